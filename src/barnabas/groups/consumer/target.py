"""What every member shall own from an epoch on: the assignor's answer, and the records that change it."""

from __future__ import annotations

from barnabas.coordination.outcome import Entry
from barnabas.groups.assignors import ASSIGNORS, NO_PARTITIONS, GroupSpec, MemberSpec, Partitions
from barnabas.groups.consumer import records
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.member import Member
from barnabas.groups.java_order import strings_in_java_order
from barnabas.model.image import ClusterImage


def may_assign_again(group: ConsumerGroup, interval_ms: int, wall_ms: int) -> bool:
    """Not sooner than an interval after the last time, so that a hundred who join together cost a few
    assignments, not a hundred. A clock that was set back does not make the group wait for the past."""
    since_ms = wall_ms - group.assigned_wall_ms
    return group.assigned_wall_ms == 0 or since_ms >= interval_ms or since_ms < 0


def compute_target(
    group: ConsumerGroup, changed: Member, assignor: str, epoch: int, image: ClusterImage, wall_ms: int
) -> tuple[Partitions, list[Entry]]:
    """The target of the member that is about to change, and the records of all whose target is new."""
    members = dict(group.members)
    if changed.instance_id is not None:
        members.pop(group.static_members.get(changed.instance_id, ""), None)
    members[changed.member_id] = changed
    targets = ASSIGNORS[assignor].assign(_spec(group, members, image))
    entries = []
    for member_id in strings_in_java_order(members):
        target = targets.get(member_id, NO_PARTITIONS)
        if group.targets.get(member_id) != target:
            entries.append(records.target_entry(group.group_id, member_id, target))
    entries.append(records.target_epoch_entry(group.group_id, epoch, wall_ms))
    return targets.get(changed.member_id, NO_PARTITIONS), entries


def _spec(group: ConsumerGroup, members: dict[str, Member], image: ClusterImage) -> GroupSpec:
    # Hundreds of members usually share a handful of subscriptions.
    ids_of: dict[tuple[frozenset[str], str], frozenset[bytes]] = {}
    specs: dict[str, MemberSpec] = {}
    for member_id, member in members.items():
        wish = (member.topics, member.topic_regex)
        if wish not in ids_of:
            ids_of[wish] = topic_ids(group, member, image)
        last = group.target_of(member_id, member.instance_id)
        specs[member_id] = MemberSpec(ids_of[wish], last, member.instance_id)
    counts = {
        topic_id: len(topic.partitions)
        for topics in ids_of.values()
        for topic_id in topics
        if (topic := image.topic_by_id(topic_id)) is not None
    }
    return GroupSpec(specs, counts, _is_homogeneous(set(ids_of)))


def _is_homogeneous(wishes: set[tuple[frozenset[str], str]]) -> bool:
    """All want the same names, or the same pattern and no names."""
    return len(wishes) == 1 and all(not (names and regex) for names, regex in wishes)


def topic_ids(group: ConsumerGroup, member: Member, image: ClusterImage) -> frozenset[bytes]:
    """Of the topics it subscribes to that exist."""
    names = group.subscriptions.topics_of(member)
    return frozenset(topic.id for name in names if (topic := image.topics.get(name)) is not None)
