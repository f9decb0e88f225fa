"""What a controller remembers of its decisions is bounded, whatever it decides."""

from __future__ import annotations

from tests.support.node import SmallNode

from barnabas.broker.cluster import image_log
from barnabas.model.image import PartitionImage, TopicCreated, TopicImage
from barnabas.protocol.private import PullImageResponse


def wide_topic(number: int) -> TopicImage:
    partitions = tuple(PartitionImage(index, (1, 2, 3), (1, 2, 3), 1) for index in range(5_000))
    return TopicImage(f"wide-{number}", number.to_bytes(16, "big"), partitions)


def test_topics_of_many_partitions_are_not_remembered_one_by_one() -> None:
    node = SmallNode().node
    first = node.image
    for number in range(1, 31):
        delta = (TopicCreated(wide_topic(number)),)
        node.image = node.image.apply(delta)
        node.image_log.add(node.image.version, delta)
    log = node.image_log
    assert sum(len(step.encoded) for step in log._steps) <= image_log._STEPS_BYTES_MAX
    answers: list[PullImageResponse] = []
    log.pull(first.controller_epoch, first.version, 0, answers.append)
    log.pull(first.controller_epoch, node.image.version - 1, 0, answers.append)
    assert [answer.from_nothing for answer in answers] == [True, False]
    assert len(answers[1].steps) == 1
