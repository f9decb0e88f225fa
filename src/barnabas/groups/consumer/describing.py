"""ConsumerGroupDescribe: the group as it is, with what every member owns and shall own."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.member import Member
from barnabas.groups.consumer.subscriptions import most_wanted
from barnabas.model.image import ClusterImage
from barnabas.protocol.messages import consumer_group_describe as wire

_CLASSIC, _CONSUMER = 0, 1


def describe(group: ConsumerGroup, default_assignor: str, image: ClusterImage) -> wire.DescribedGroup:
    return wire.DescribedGroup(
        group_id=group.group_id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=most_wanted(group.subscriptions.assignors) or default_assignor,
        members=[_member(group, member, image) for member in group.members.values()],
    )


def _member(group: ConsumerGroup, member: Member, image: ClusterImage) -> wire.Member:
    return wire.Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.topic_regex,
        assignment=_assignment(_held(member), image),
        target_assignment=_assignment(group.target_of(member.member_id), image),
        member_type=_CLASSIC if member.speaks_classic else _CONSUMER,
    )


def _held(member: Member) -> Mapping[bytes, Collection[int]]:
    """What it is asked to give up is still its own."""
    held: dict[bytes, set[int]] = {}
    for owned in (member.assigned, member.pending_revocation):
        for topic_id, partitions in owned.items():
            held.setdefault(topic_id, set()).update(partitions)
    return held


def _assignment(owned: Mapping[bytes, Collection[int]], image: ClusterImage) -> wire.Assignment:
    """A topic that is gone by now has no name to show."""
    return wire.Assignment(
        [
            wire.TopicPartitions(topic_id, image.topic_names[topic_id], sorted(partitions))
            for topic_id, partitions in owned.items()
            if topic_id in image.topic_names
        ]
    )
