"""The image: every delta leads to the next version, and what did not change is shared."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from barnabas.model.image import (
    BrokerChanged,
    BrokerGone,
    BrokerImage,
    ClusterImage,
    ConfigChanged,
    ConfigKind,
    ConfigResource,
    ControllerChanged,
    Delta,
    FeaturesChanged,
    PartitionChanged,
    PartitionImage,
    PartitionsAdded,
    ProducerIdBlock,
    ProducerIdsAllocated,
    TopicCreated,
    TopicDeleted,
    TopicImage,
)


def partition(index: int, leader: int = 1, leader_epoch: int = 0) -> PartitionImage:
    return PartitionImage(index, (1, 2), (1, 2), leader, leader_epoch)


def topic(name: str, count: int = 2) -> TopicImage:
    return TopicImage(name, name.encode().ljust(16, b"-"), tuple(partition(index) for index in range(count)))


def config(name: str) -> ConfigResource:
    return ConfigResource(ConfigKind.TOPIC, name)


BASE = ClusterImage(version=10).apply(
    [
        TopicCreated(topic("a")),
        TopicCreated(topic("b.c")),
        ConfigChanged(config("a"), {"k": "v"}),
        BrokerChanged(BrokerImage(1, 5, {})),
        BrokerChanged(BrokerImage(2, 6, {}, fenced=True)),
    ]
)


def test_each_apply_is_one_version() -> None:
    assert BASE.version == 11
    assert BASE.apply([]).version == 12


def test_topics_are_found_by_name_and_by_id() -> None:
    assert BASE.topic_by_id(topic("a").id) is BASE.topics["a"]
    assert BASE.topic_by_id(bytes(16)) is None
    assert BASE.partition("a", 1) == partition(1)
    assert [BASE.partition("a", 2), BASE.partition("a", -1), BASE.partition("z", 0)] == [None] * 3


def test_a_changed_partition_leaves_the_others_as_they_are() -> None:
    after = BASE.apply([PartitionChanged("a", partition(1, leader=2, leader_epoch=1))])
    assert after.partition("a", 1) == partition(1, leader=2, leader_epoch=1)
    assert BASE.partition("a", 1) == partition(1)
    assert after.topics["a"].partitions[0] is BASE.topics["a"].partitions[0]
    assert after.topics["b.c"] is BASE.topics["b.c"]
    for untouched in ("brokers", "topic_names", "configs", "features"):
        assert getattr(after, untouched) is getattr(BASE, untouched)


def test_sorted_names_are_kept_while_no_topic_comes_or_goes() -> None:
    names = BASE.sorted_topic_names
    assert BASE.apply([PartitionChanged("a", partition(0))]).sorted_topic_names is names
    assert BASE.apply([TopicCreated(topic("0"))]).sorted_topic_names == ("0", "a", "b.c")


def test_a_deleted_topic_takes_its_settings_and_its_id_with_it() -> None:
    after = BASE.apply([TopicDeleted("a", topic("a").id)])
    assert set(after.topics) == {"b.c"}
    assert set(after.topic_names.values()) == {"b.c"}
    assert after.configs == {}
    assert after.config(ConfigKind.TOPIC, "a") == {}


def test_a_topic_may_go_and_come_back_in_one_apply() -> None:
    again = replace(topic("a", 1), id=b"another id here!")
    deltas: list[Delta] = [
        PartitionChanged("a", partition(0, leader=2)),
        TopicDeleted("a", topic("a").id),
        TopicCreated(again),
        PartitionsAdded("a", (partition(1),)),
    ]
    after = BASE.apply(deltas)
    assert after.topics["a"] == replace(again, partitions=(partition(0), partition(1)))
    assert after.topic_by_id(again.id) is after.topics["a"]
    assert after.topic_by_id(topic("a").id) is None


def test_settings_that_are_empty_are_gone() -> None:
    assert BASE.apply([ConfigChanged(config("a"), {})]).configs == {}
    assert BASE.apply([ConfigChanged(config("z"), {})]).configs is BASE.configs


def test_only_brokers_that_are_not_fenced_are_active() -> None:
    assert [broker.id for broker in BASE.active_brokers] == [1]
    assert [BASE.is_active(broker_id) for broker_id in (1, 2, 3)] == [True, False, False]
    assert BASE.apply([BrokerGone(1)]).active_brokers == ()


def test_the_rest_is_replaced() -> None:
    block = ProducerIdBlock(1, 0, 999)
    after = BASE.apply(
        [ControllerChanged(2, 7, 9), FeaturesChanged({"f": 1}, 3), ProducerIdsAllocated(block)]
    )
    assert (after.controller_id, after.controller_epoch, after.controller_epoch_version) == (2, 7, 9)
    assert (after.features, after.features_epoch, after.producer_ids) == ({"f": 1}, 3, block)


def test_names_that_metrics_would_confuse_are_found() -> None:
    assert BASE.names_folded == {"b_c": "b.c"}


@st.composite
def histories(draw: st.DrawFn) -> list[Delta]:
    """Deltas that a controller could have made, in an order that makes sense."""
    counts: dict[str, int] = {}
    deltas: list[Delta] = []
    for _ in range(draw(st.integers(0, 30))):
        name = draw(st.sampled_from("abcd"))
        if name not in counts:
            counts[name] = draw(st.integers(1, 4))
            deltas.append(TopicCreated(topic(name, counts[name])))
            continue
        match draw(st.sampled_from(["delete", "add", "change", "configure"])):
            case "delete":
                del counts[name]
                deltas.append(TopicDeleted(name, topic(name).id))
            case "add":
                deltas.append(PartitionsAdded(name, (partition(counts[name]),)))
                counts[name] += 1
            case "change":
                index = draw(st.integers(0, counts[name] - 1))
                changed = partition(index, draw(st.integers(1, 9)), draw(st.integers(1, 9)))
                deltas.append(PartitionChanged(name, changed))
            case _:
                values = draw(st.dictionaries(st.sampled_from("xy"), st.text(max_size=2)))
                deltas.append(ConfigChanged(config(name), values))
    return deltas


@given(histories(), st.data())
def test_deltas_one_by_one_or_together_lead_to_the_same_image(
    deltas: list[Delta], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(deltas)))
    together = ClusterImage().apply(deltas)
    in_two = ClusterImage().apply(deltas[:cut]).apply(deltas[cut:])
    one_by_one = ClusterImage()
    for delta in deltas:
        one_by_one = one_by_one.apply([delta])
    assert replace(together, version=0) == replace(in_two, version=0) == replace(one_by_one, version=0)
    assert one_by_one.version == len(deltas)


@given(histories())
def test_the_indexes_always_agree_with_the_topics(deltas: list[Delta]) -> None:
    image = ClusterImage()
    for delta in deltas:
        image = image.apply([delta])
        assert image.topic_names == {one.id: one.name for one in image.topics.values()}
        assert image.sorted_topic_names == tuple(sorted(image.topics))
        assert image.partition_count == sum(len(one.partitions) for one in image.topics.values())
        assert {resource.name for resource in image.configs} <= set(image.topics)
        for one in image.topics.values():
            assert [each.index for each in one.partitions] == list(range(len(one.partitions)))
