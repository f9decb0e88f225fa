"""What a controller remembers of its decisions, and what it tells whom."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from tests.support.node import SmallNode

from barnabas.broker.cluster import image_log
from barnabas.broker.node import Node
from barnabas.controller import steps
from barnabas.model.image import ClusterImage, ControllerChanged, PartitionImage, TopicCreated, TopicImage
from barnabas.protocol import codec
from barnabas.protocol.private import VERSION, PullImageResponse, StepRow


def topic_of(number: int, partition_count: int) -> TopicImage:
    partitions = tuple(PartitionImage(index, (1, 2, 3), (1, 2, 3), 1) for index in range(partition_count))
    return TopicImage(f"topic-{number}", number.to_bytes(16, "big"), partitions)


def test_topics_of_many_partitions_are_not_remembered_one_by_one() -> None:
    node = SmallNode().node
    first = node.image
    for number in range(1, 31):
        delta = (TopicCreated(topic_of(number, 5_000)),)
        node.image = node.image.apply(delta)
        node.image_log.add(node.image.version, delta)
    log = node.image_log
    assert sum(len(step.encoded) for step in log._steps) <= image_log._STEPS_BYTES_MAX
    answers: list[PullImageResponse] = []
    log.pull(first.controller_epoch, first.version, 0, answers.append)
    log.pull(first.controller_epoch, node.image.version - 1, 0, answers.append)
    assert [answer.from_nothing for answer in answers] == [True, False]
    assert len(answers[1].steps) == 1


def new_term(node: Node, *, epoch: int = 9) -> ClusterImage:
    """The image before it."""
    former = node.image
    node.image = former.apply([ControllerChanged(1, epoch, epoch)])
    node.image_log.begin(former)
    return former


def pulled(node: Node, epoch: int, version: int) -> PullImageResponse:
    answers: list[PullImageResponse] = []
    node.image_log.pull(epoch, version, 0, answers.append)
    return answers[0]


def test_a_new_controller_tells_those_who_have_its_former_image_only_what_is_new() -> None:
    node = SmallNode().node
    node.publish((TopicCreated(topic_of(1, 2)),))
    former = new_term(node)
    delta = (TopicCreated(topic_of(2, 2)),)
    node.image = node.image.apply(delta)
    node.image_log.add(node.image.version, delta)
    answer = pulled(node, former.controller_epoch, former.version)
    assert (answer.from_nothing, answer.controller_epoch, len(answer.steps)) == (False, 9, 2)
    image = former
    for encoded in answer.steps:
        step = codec.decode(StepRow, VERSION, memoryview(cast(bytes, encoded)), 0)
        image = image.apply(steps.deltas(image, step))
    assert image == node.image


@pytest.mark.parametrize(("epochs", "versions"), [(-1, 0), (0, -1), (0, 1)])
def test_whoever_has_another_image_gets_the_whole_one(epochs: int, versions: int) -> None:
    """The same version of another epoch is another image."""
    node = SmallNode().node
    node.publish((TopicCreated(topic_of(1, 2)),))
    former = new_term(node)
    assert pulled(node, former.controller_epoch + epochs, former.version + versions).from_nothing


def test_whoever_waits_since_an_earlier_term_gets_the_whole_image() -> None:
    node = SmallNode().node
    answers: list[PullImageResponse] = []
    node.image_log.pull(node.image.controller_epoch, node.image.version, 1_000, answers.append)
    assert answers == []
    # Meanwhile another led, whose image has the same number, and is another one.
    node.image = replace(node.image, controller_epoch=8)
    new_term(node)
    assert answers[0].from_nothing
