"""A group's description and offsets as rows, in Kafka's order; no IO. What Kafka prints of them is in
`consumer_groups_tables`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from barnabas.model.ids import TopicPartition
from barnabas.wire.admin.group_offsets import Committed
from barnabas.wire.admin.groups import Group, Member


class OffsetRow(NamedTuple):
    """None is what nobody knows: no commit, no leader to ask for the end, no member."""

    group: str
    partition: TopicPartition
    leader_epoch: int | None
    offset: int | None
    log_end_offset: int | None
    member: Member | None

    @property
    def lag(self) -> int | None:
        if self.offset is None or self.log_end_offset is None:
            return None
        return self.log_end_offset - self.offset


def partitions_of(group: Group, committed: Iterable[TopicPartition]) -> set[TopicPartition]:
    """Assigned or committed: whatever has a row."""
    return {*committed, *(one for member in group.members for one in member.assignment)}


def offset_rows(
    group: Group, committed: Mapping[TopicPartition, Committed], ends: Mapping[TopicPartition, int]
) -> list[OffsetRow]:
    """Members with more partitions come first; partitions nobody reads come last."""

    def row(partition: TopicPartition, member: Member | None) -> OffsetRow:
        found = committed.get(partition)
        return OffsetRow(
            group.group_id,
            partition,
            None if found is None else found.leader_epoch,
            None if found is None else found.offset,
            ends.get(partition),
            member,
        )

    rows = []
    assigned: set[TopicPartition] = set()
    for member in sorted(group.members, key=lambda one: -len(one.assignment)):
        rows += [row(partition, member) for partition in sorted(member.assignment)]
        assigned |= member.assignment
    rows += [row(partition, None) for partition in sorted(committed) if partition not in assigned]
    return rows


def assignment_text(partitions: Iterable[TopicPartition]) -> str:
    """`orders:0,1;payments:0`"""
    topics: dict[str, list[int]] = {}
    for partition in sorted(partitions):
        topics.setdefault(partition.topic, []).append(partition.partition)
    return ";".join(sorted(f"{topic}:{','.join(map(str, indexes))}" for topic, indexes in topics.items()))
