"""Who gets which partition, compared with Apache Kafka's own assignors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.groups.assignors import ASSIGNORS, GroupSpec, MemberSpec, Partitions

_GOLDEN = Path(__file__).parents[2] / "golden" / "assignors.txt"


def _topic(prefix: str) -> bytes:
    return bytes.fromhex(prefix) + bytes(12)


def _group(members: dict[str, MemberSpec], counts: Mapping[bytes, int]) -> GroupSpec:
    return GroupSpec(members, counts, len({member.topics for member in members.values()}) == 1)


def _partitions(text: str) -> dict[bytes, frozenset[int]]:
    pairs = (word.split("=") for word in text.split())
    return {_topic(topic): frozenset(map(int, numbers.split(","))) for topic, numbers in pairs}


def _read(block: str) -> tuple[str, GroupSpec, dict[str, Partitions]]:
    header, *lines = block.splitlines()
    name, *topics = header.split()
    members: dict[str, MemberSpec] = {}
    wanted: dict[str, Partitions] = {}
    for line in lines:
        who, rest = line.split(" ~ ")
        subscribed, targets = rest.split(" >")
        last, _, new = targets.partition("<")
        member_id, instance_id = who.split()
        members[member_id] = MemberSpec(
            frozenset(map(_topic, subscribed.split())),
            _partitions(last),
            None if instance_id == "-" else instance_id,
        )
        wanted[member_id] = _partitions(new)
    counts = {_topic(word.split("=")[0]): int(word.split("=")[1]) for word in topics}
    return name, _group(members, counts), wanted


def _blocks() -> list[str]:
    return _GOLDEN.read_text().strip().split("\n\n")[1:]


@pytest.mark.parametrize("block", _blocks(), ids=lambda block: block.split("\n")[0].replace(" ", "_"))
def test_the_same_group_is_assigned_as_kafka_assigns_it(block: str) -> None:
    name, group, wanted = _read(block)
    assert ASSIGNORS[name].assign(group) == wanted


@st.composite
def _groups(draw: st.DrawFn) -> GroupSpec:
    topics = [_topic(f"{number:08x}") for number in range(1, draw(st.integers(2, 5)))]
    counts = {topic: draw(st.integers(1, 9)) for topic in topics}
    unowned = {(topic, partition) for topic, count in counts.items() for partition in range(count)}
    members: dict[str, MemberSpec] = {}
    for number in range(draw(st.integers(1, 8))):
        owned: dict[bytes, set[int]] = {}
        for topic, partition in draw(st.sets(st.sampled_from(sorted(unowned)))) if unowned else ():
            owned.setdefault(topic, set()).add(partition)
            unowned.discard((topic, partition))
        subscribed = draw(st.sets(st.sampled_from(topics), min_size=1))
        members[f"member-{number}"] = MemberSpec(frozenset(subscribed), owned)
    return _group(members, counts)


@given(_groups(), st.sampled_from(sorted(ASSIGNORS)))
def test_every_subscribed_partition_has_exactly_one_owner_who_subscribes_to_it(
    group: GroupSpec, name: str
) -> None:
    targets = ASSIGNORS[name].assign(group)
    given_out = [
        (topic, partition)
        for member_id, target in targets.items()
        for topic, partitions in target.items()
        for partition in partitions
        if topic in group.members[member_id].topics
    ]
    subscribed = {topic for member in group.members.values() for topic in member.topics}
    assert sorted(given_out) == sorted(
        (topic, partition) for topic in subscribed for partition in range(group.partition_counts[topic])
    )


@given(_groups(), st.sampled_from(sorted(ASSIGNORS)))
def test_assigning_again_moves_nothing(group: GroupSpec, name: str) -> None:
    assignor = ASSIGNORS[name]
    first = assignor.assign(group)
    members = {
        member_id: MemberSpec(member.topics, first[member_id], member.instance_id)
        for member_id, member in group.members.items()
    }
    assert assignor.assign(_group(members, group.partition_counts)) == first


@given(st.integers(1, 40), st.integers(1, 12))
def test_uniform_gives_everybody_the_same_number_or_one_more(partition_count: int, member_count: int) -> None:
    topic = _topic("00000001")
    members = {f"member-{number}": MemberSpec(frozenset({topic})) for number in range(member_count)}
    targets = ASSIGNORS["uniform"].assign(_group(members, {topic: partition_count}))
    sizes = [len(target.get(topic, ())) for target in targets.values()]
    assert max(sizes) - min(sizes) <= 1
