"""A classic group becomes a consumer group while it is in use: somebody joined it with the new protocol.

Its members keep speaking the classic protocol, keep what they own, and are told to rejoin.
"""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.coordination.outcome import Entry, Outcome
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.classic.member import ClassicMember
from barnabas.groups.classic.states import Stable
from barnabas.groups.consumer import records
from barnabas.groups.consumer.context import Context
from barnabas.groups.consumer.embedded import assigned_partitions, read_assignment, read_subscription
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.member import Member
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.codec import MalformedError
from barnabas.protocol.internal.groups import ClassicMemberMetadata, ClassicProtocol
from barnabas.protocol.messages.join_group import JoinGroupResponse
from barnabas.protocol.messages.sync_group import SyncGroupResponse


@dataclass(slots=True)
class Upgrade:
    context: Context
    classic: ClassicGroup
    group: ConsumerGroup

    def entries(self) -> list[Entry]:
        group, group_id = self.group, self.group.group_id
        members = list(group.members.values())
        return [
            *self.classic.tombstones(),
            *(records.member_entry(group_id, member) for member in members),
            records.epoch_entry(group_id, group.epoch, group.metadata_hash),
            *(
                records.target_entry(group_id, member.member_id, group.target_of(member.member_id))
                for member in members
            ),
            records.target_epoch_entry(group_id, group.assignment_epoch, group.assigned_wall_ms),
            *(records.current_entry(group_id, member) for member in members),
        ]

    def finish(self, outcome: Outcome) -> None:
        """Once nothing can be refused any more: whoever waits in the classic group must come again."""
        again = ErrorCode.REBALANCE_IN_PROGRESS
        for member in self.classic.members.values():
            join = JoinGroupResponse(error_code=again, member_id=member.member_id)
            self.classic.answer_join(member, join, outcome.answers)
            self.classic.answer_sync(member, SyncGroupResponse(error_code=again), outcome.answers)
        for each in self.group.members.values():
            self.context.watch_session(self.group.group_id, each)


def upgrade(context: Context, classic: ClassicGroup) -> Upgrade:
    _check(context, classic)
    group = ConsumerGroup(classic.group_id)
    group.epoch = group.assignment_epoch = classic.generation
    try:
        for classic_member in classic.members.values():
            member = _member(context, classic, classic_member)
            group.put(member)
            group.targets[member.member_id] = {
                topic_id: frozenset(partitions) for topic_id, partitions in member.assigned.items()
            }
    except MalformedError:
        raise _refused(classic, "the embedded consumer protocol is malformed.") from None
    if isinstance(classic.status, Stable):
        group.metadata_hash = context.topic_hashes.of_topics(group.subscriptions.topics(), context.host.image)
    # Else the target lacks what the rebalance under way was to hand out. Without a hash the topics count as
    # changed: there is a new target, even if it is a static member that comes back and changes nothing.
    return Upgrade(context, classic, group)


def _check(context: Context, classic: ClassicGroup) -> None:
    settings = context.host.settings
    if settings.text("group.consumer.migration.policy").lower() not in ("bidirectional", "upgrade"):
        raise _refused(classic, "online upgrade is disabled.")
    if not classic.uses_consumer_protocol:
        raise _refused(classic, "the group does not use the consumer embedded protocol.")
    if len(classic.members) > settings.integer("group.consumer.max.size"):
        raise _refused(classic, "the group size exceeds the consumer group maximum size.")


def _refused(classic: ClassicGroup, why: str) -> ApiError:
    return ApiError(
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Cannot upgrade classic group {classic.group_id} to consumer group because {why}",
    )


def _member(context: Context, classic: ClassicGroup, member: ClassicMember) -> Member:
    generation = classic.generation
    assignment = read_assignment(member.assignment)
    if assignment.user_data:
        raise _refused(
            classic,
            "an unsupported custom assignor is in use. Please refer to the documentation or switch to a "
            "default assignor before re-attempting the upgrade.",
        )
    # Before a group's first generation nothing is agreed on: the member's favourite speaks for it.
    agreed = (
        classic.protocol_name if classic.protocol_name in member.protocols else next(iter(member.protocols))
    )
    assert agreed is not None
    subscription = read_subscription(member.protocols[agreed])
    owned = assigned_partitions(assignment, context.host.image)
    protocols = [ClassicProtocol(name, metadata) for name, metadata in member.protocols.items()]
    return Member(
        member.member_id,
        epoch=generation,
        previous_epoch=generation,
        instance_id=member.instance_id,
        rack_id=subscription.rack_id or None,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topics=frozenset(subscription.topics),
        assigned={
            topic_id: dict.fromkeys(sorted(partitions), generation) for topic_id, partitions in owned.items()
        },
        classic=ClassicMemberMetadata(member.session_timeout_ms, protocols),
    )
