"""From one image to another: whoever has the first and applies the difference has the second."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.controller.images import BROKERS, partitions
from tests.unit.controller.support import broker, image_of

from barnabas.controller import steps
from barnabas.controller.differences import between
from barnabas.model.image import (
    ClusterImage,
    ConfigChanged,
    ConfigKind,
    ConfigResource,
    ControllerChanged,
    FeaturesChanged,
    ProducerIdBlock,
    ProducerIdsAllocated,
    TopicCreated,
    TopicImage,
)
from barnabas.protocol import codec
from barnabas.protocol.private import VERSION, StepRow

NAMES = ("a", "b", "c")


@st.composite
def topics(draw: st.DrawFn, name: str) -> TopicImage:
    count = draw(st.integers(1, 3))
    topic_id = draw(st.sampled_from((b"1", b"2"))) * 15 + name.encode()
    return TopicImage(name, topic_id, tuple(draw(partitions(index)) for index in range(count)))


@st.composite
def clusters(draw: st.DrawFn) -> ClusterImage:
    here = sorted(draw(st.sets(st.sampled_from(BROKERS))))
    image = image_of(*(broker(one, fenced=draw(st.booleans())) for one in here))
    names = sorted(draw(st.sets(st.sampled_from(NAMES))))
    values = st.dictionaries(st.sampled_from(("retention.ms", "segment.ms")), st.just("1"), min_size=1)
    configured = [ConfigResource(ConfigKind.TOPIC, name) for name in names if draw(st.booleans())]
    configured += [ConfigResource(ConfigKind.BROKER, "")] if draw(st.booleans()) else []
    return image.apply(
        [
            *(TopicCreated(draw(topics(name))) for name in names),
            *(ConfigChanged(resource, draw(values)) for resource in configured),
            ControllerChanged(
                draw(st.sampled_from(BROKERS)), draw(st.integers(1, 9)), draw(st.integers(0, 9))
            ),
            FeaturesChanged({"metadata.version": draw(st.integers(1, 3))}, draw(st.integers(0, 3))),
            ProducerIdsAllocated(ProducerIdBlock(1, draw(st.integers(0, 3)) * 1000, 999)),
        ]
    )


def shrinks(old: ClusterImage, new: ClusterImage) -> bool:
    return any(
        topic.id == new.topics[name].id and len(topic.partitions) > len(new.topics[name].partitions)
        for name, topic in old.topics.items()
        if name in new.topics
    )


def after_travelling(row: StepRow) -> StepRow:
    return codec.decode(StepRow, VERSION, memoryview(codec.encode(row, VERSION)), 0)


@given(old=clusters(), drawn=clusters())
def test_the_difference_leads_from_one_image_to_the_other(old: ClusterImage, drawn: ClusterImage) -> None:
    new = replace(drawn.sharing(old), version=old.version + 1)
    found = between(old, new)
    assert (found is None) == shrinks(old, new)
    if found is not None:
        row = after_travelling(steps.step(new.version, found))
        assert old.apply(steps.deltas(old, row)) == new


@given(image=clusters())
def test_what_stays_is_not_told_again(image: ClusterImage) -> None:
    found = between(image, image.apply([ControllerChanged(4, 10, 10)]))
    assert found is not None
    assert {type(delta) for delta in found} == {ControllerChanged, FeaturesChanged, ProducerIdsAllocated}


def test_what_deltas_cannot_tell_is_not_told_in_deltas() -> None:
    image = image_of(broker(1))
    assert between(image, replace(image, unreadable=frozenset({"t"}))) is None
    assert between(image, replace(image, cluster_id="another")) is None
