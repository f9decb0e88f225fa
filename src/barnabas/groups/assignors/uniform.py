"""`uniform`: all members get equally many partitions (one more or less), and keep what they can.

Members with different subscriptions are `uneven.py`'s matter.
"""

from __future__ import annotations

from barnabas.groups.assignors.spec import GroupSpec, Partitions
from barnabas.groups.assignors.uneven import assign_unevenly_subscribed
from barnabas.groups.java_order import (
    partitions_in_java_order,
    strings_in_java_order,
    uuids_in_java_order,
)


class UniformAssignor:
    name = "uniform"

    def assign(self, group: GroupSpec) -> dict[str, Partitions]:
        if not group.members:
            return {}
        if group.is_homogeneous:
            return _assign_evenly_subscribed(group)
        return assign_unevenly_subscribed(group)


def _assign_evenly_subscribed(group: GroupSpec) -> dict[str, Partitions]:
    topics = next(iter(group.members.values())).topics
    if not topics:
        return {}
    ordered = strings_in_java_order(group.members)
    quota, extra = divmod(sum(group.partition_counts[topic] for topic in topics), len(ordered))
    free = _never_assigned(group, topics)
    kept: dict[str, dict[bytes, set[int]]] = {}
    wanting: list[tuple[str, int]] = []
    for place, member_id in enumerate(ordered):
        offered = extra > 0
        kept[member_id], surplus = _keep(group, member_id, topics, quota + offered)
        free += surplus
        room = quota + offered - sum(map(len, kept[member_id].values()))
        if room and offered and len(ordered) - place > extra:
            # The extra place is worth more to a member that owns a partition it would else give up.
            room, offered = room - 1, False
        extra -= offered
        if room:
            wanting.append((member_id, room))
    unclaimed = iter(free)
    for member_id, room in wanting:
        for _, (topic_id, partition) in zip(range(room), unclaimed, strict=False):
            kept[member_id].setdefault(topic_id, set()).add(partition)
    return dict(kept)


def _never_assigned(group: GroupSpec, topics: frozenset[bytes]) -> list[tuple[bytes, int]]:
    assigned: dict[bytes, set[int]] = {topic_id: set() for topic_id in topics}
    for member in group.members.values():
        for topic_id, partitions in member.partitions.items():
            if topic_id in assigned:
                assigned[topic_id].update(partitions)
    return [
        (topic_id, partition)
        for topic_id in uuids_in_java_order(topics, copied=True)
        for partition in range(group.partition_counts[topic_id])
        if partition not in assigned[topic_id]
    ]


def _keep(
    group: GroupSpec, member_id: str, topics: frozenset[bytes], room: int
) -> tuple[dict[bytes, set[int]], list[tuple[bytes, int]]]:
    """What the member keeps of its last target, and what it must give up for others to have their share."""
    kept: dict[bytes, set[int]] = {}
    surplus: list[tuple[bytes, int]] = []
    last = group.members[member_id].partitions
    for topic_id in uuids_in_java_order(last):
        if topic_id not in topics:
            continue
        count = group.partition_counts[topic_id]
        partitions = [each for each in partitions_in_java_order(last[topic_id]) if each < count]
        if partitions[:room]:
            kept[topic_id] = set(partitions[:room])
        surplus += [(topic_id, partition) for partition in partitions[room:]]
        room -= len(kept.get(topic_id, ()))
    return kept, surplus
