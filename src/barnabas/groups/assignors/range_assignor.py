"""`range`: of every topic each member gets one run of neighbouring partitions.

Members are in the order of their instance ids, then of their member ids, so the same member gets the same
run of two topics with equally many partitions: what joins by key.
"""

from __future__ import annotations

from itertools import pairwise

from barnabas.groups.assignors.spec import GroupSpec, Partitions
from barnabas.groups.java_order import uuids_in_java_order


class RangeAssignor:
    name = "range"

    def assign(self, group: GroupSpec) -> dict[str, Partitions]:
        ordered = sorted(group.members, key=lambda member_id: _place(group, member_id))
        subscribers: dict[bytes, list[str]] = {}
        for member_id in ordered:
            for topic_id in uuids_in_java_order(group.members[member_id].topics):
                subscribers.setdefault(topic_id, []).append(member_id)
        targets: dict[str, dict[bytes, frozenset[int]]] = {member_id: {} for member_id in ordered}
        for topic_id, member_ids in subscribers.items():
            runs = _runs(group.partition_counts[topic_id], len(member_ids))
            for member_id, run in zip(member_ids, runs, strict=True):
                if run:
                    targets[member_id][topic_id] = frozenset(run)
        return dict(targets)


def _place(group: GroupSpec, member_id: str) -> tuple[bool, str]:
    instance_id = group.members[member_id].instance_id
    return (True, member_id) if instance_id is None else (False, instance_id)


def _runs(partition_count: int, member_count: int) -> list[range]:
    """The first members get one more where it does not divide evenly."""
    quota, extra = divmod(partition_count, member_count)
    starts = [index * quota + min(index, extra) for index in range(member_count + 1)]
    return [range(start, end) for start, end in pairwise(starts)]
