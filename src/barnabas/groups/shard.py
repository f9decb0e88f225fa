"""One partition of `__consumer_offsets`: its groups of every kind, and their offsets.

Requests are routed by the kind of the group they name; records are replayed by the kind of their key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from barnabas.coordination.outcome import Entry, Outcome, Producer, ShardHost, Ticket
from barnabas.groups.classic.describe import describe
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.classic.join import Joins
from barnabas.groups.classic.leave import leave_group
from barnabas.groups.classic.rebalance import Rebalancer
from barnabas.groups.classic.records import restore
from barnabas.groups.classic.sync import sync_group
from barnabas.groups.consumer import classic_members
from barnabas.groups.consumer.coordinator import ConsumerGroups
from barnabas.groups.consumer.downgrade import replacing
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.group import Caller, Group, GroupType
from barnabas.groups.offsets import removal
from barnabas.groups.offsets.cleaning import Cleaning
from barnabas.groups.offsets.commit import Commits
from barnabas.groups.offsets.fetch import Fetch
from barnabas.groups.offsets.store import Offsets
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import ClusterImage
from barnabas.protocol.internal.groups import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from barnabas.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from barnabas.protocol.messages.delete_groups import DeletableGroupResult
from barnabas.protocol.messages.heartbeat import HeartbeatRequest
from barnabas.protocol.messages.join_group import JoinGroupRequest
from barnabas.protocol.messages.leave_group import LeaveGroupRequest
from barnabas.protocol.messages.list_groups import ListedGroup
from barnabas.protocol.messages.offset_commit import OffsetCommitRequest
from barnabas.protocol.messages.offset_delete import OffsetDeleteRequest
from barnabas.protocol.messages.offset_fetch import OffsetFetchRequestGroup
from barnabas.protocol.messages.sync_group import SyncGroupRequest
from barnabas.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest


class GroupShard:
    def __init__(self, host: ShardHost) -> None:
        self.host = host
        self.groups: dict[str, Group] = {}
        self.offsets = Offsets()
        self.rebalancer = Rebalancer(host, self.groups)
        self.joins = Joins(host, self.groups, self.rebalancer)
        self.cleaning = Cleaning(host, self.groups, self.offsets)
        self._commits = Commits(host, self.groups, self.rebalancer)
        self.consumers = ConsumerGroups(host, self.groups, self.rebalancer)

    # --- the shard's life ----------------------------------------------------------------------------------

    def replay(self, entry: Entry, offset: int, producer: Producer | None) -> None:
        key, value = entry
        if isinstance(key, OffsetCommitKey):
            assert value is None or isinstance(value, OffsetCommitValue)
            if value is not None and key.group not in self.groups:
                self.groups[key.group] = ClassicGroup(key.group)  # offsets without membership
            self.offsets.replay(key, value, offset, producer)
        elif isinstance(key, GroupMetadataKey):
            assert value is None or isinstance(value, GroupMetadataValue)
            self._replay_group(key, value)
        else:
            replayed = self.consumers.replays(entry)
            assert replayed, f"no group keeps {type(key).__name__}"

    def _replay_group(self, key: GroupMetadataKey, value: GroupMetadataValue | None) -> None:
        if value is not None:
            self.groups[key.group] = restore(key.group, value)
        elif isinstance(self.groups.get(key.group), ClassicGroup):
            del self.groups[key.group]

    def end_transaction(self, producer: Producer, committed: bool) -> None:
        self.offsets.end_transaction(producer.id, committed)

    def loaded(self) -> Iterable[Outcome]:
        for group in list(self.groups.values()):
            if isinstance(group, ClassicGroup):
                yield self.rebalancer.resume(group)
            elif isinstance(group, ConsumerGroup):
                self.consumers.loaded(group)
        self.cleaning.schedule()

    def unloaded(self) -> None:
        for group in self.groups.values():
            group.unloaded()

    def image_changed(self, old: ClusterImage) -> Iterator[Outcome]:
        gone = removal.of_deleted_topics(self.offsets, old, self.host.image)
        for batch in removal.in_batches(gone):
            yield Outcome(batch)
        self.consumers.image_changed(old)
        for group in list(self.groups.values()):
            yield from group.image_changed(old)

    # --- offsets -------------------------------------------------------------------------------------------

    def commit_offsets(self, request: OffsetCommitRequest, caller: Caller, ticket: Ticket) -> Outcome:
        return self._commits.commit(request, caller, ticket)

    def commit_transactional_offsets(
        self, request: TxnOffsetCommitRequest, caller: Caller, ticket: Ticket
    ) -> Outcome:
        return self._commits.commit_transactional(request, caller, ticket)

    def fetch_offsets(
        self, request: OffsetFetchRequestGroup, require_stable: bool, ticket: Ticket
    ) -> Outcome:
        """Answers an OffsetFetchResponseGroup."""
        fetch = Fetch(self.offsets, self.groups.get(request.group_id), request, require_stable)
        return Outcome(answers=[(ticket, fetch.answer())])

    def delete_offsets(self, request: OffsetDeleteRequest, ticket: Ticket) -> Outcome:
        entries, response = removal.delete_offsets(self.offsets, self._group(request.group_id), request)
        return Outcome(entries, [(ticket, response)])

    # --- administration ------------------------------------------------------------------------------------

    def delete_groups(self, group_ids: Iterable[str], ticket: Ticket) -> Outcome:
        """In one batch. Answers a list of DeletableGroupResult."""
        entries: list[Entry] = []
        results: list[DeletableGroupResult] = []
        for group_id in group_ids:
            try:
                group = self._group(group_id)
                group.check_delete()
            except ApiError as error:
                results.append(DeletableGroupResult(group_id, error.code))
            else:
                entries += removal.with_its_offsets(self.offsets, group)
                results.append(DeletableGroupResult(group_id))
        return Outcome(entries, [(ticket, results)])

    def describe_group(self, group_id: str, caller: Caller, ticket: Ticket) -> Outcome:
        """Answers a DescribedGroup; only classic groups exist to DescribeGroups."""
        return Outcome(answers=[(ticket, describe(self.groups.get(group_id), group_id, caller.version))])

    def list_groups(
        self, states: Collection[str], types: Collection[GroupType | None]
    ) -> Iterator[ListedGroup]:
        """Of these states (in lower case) and types; empty: any."""
        for group in self.groups.values():
            if (not states or group.state.lower() in states) and (not types or group.type in types):
                yield ListedGroup(group.group_id, group.protocol_type, group.state, group.type.value)

    def _group(self, group_id: str) -> Group:
        group = self.groups.get(group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND)
        return group

    # --- the classic protocol ------------------------------------------------------------------------------

    def join_group(self, request: JoinGroupRequest, caller: Caller, ticket: Ticket) -> Outcome:
        group = self.groups.get(request.group_id)
        if group is None or isinstance(group, ClassicGroup):
            return self.joins.join(group, request, caller, ticket)
        if isinstance(group, ConsumerGroup) and not group.is_empty:
            return classic_members.join(self.consumers.context, group, request, caller, ticket)
        if isinstance(group, ConsumerGroup):
            return self._join_instead(group, request, caller, ticket)
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def _join_instead(
        self, group: ConsumerGroup, request: JoinGroupRequest, caller: Caller, ticket: Ticket
    ) -> Outcome:
        """Nobody is left in the consumer group: a classic group takes its place."""
        del self.groups[group.group_id]
        try:
            outcome = self.joins.join(None, request, caller, ticket)
        except ApiError:
            self.groups[group.group_id] = group
            raise
        return replacing(self.groups, group, outcome)

    def sync_group(self, request: SyncGroupRequest, ticket: Ticket) -> Outcome:
        group = self.groups.get(request.group_id)
        if isinstance(group, ClassicGroup):
            return sync_group(self.rebalancer, group, request, ticket)
        if isinstance(group, ConsumerGroup):
            return classic_members.sync(self.consumers.context, group, request, ticket)
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)

    def heartbeat(self, request: HeartbeatRequest, ticket: Ticket) -> Outcome:
        group = self.groups.get(request.group_id)
        if isinstance(group, ClassicGroup):
            member = group.check_member(request.member_id, request.group_instance_id)
            group.check_generation(request.generation_id)
            self.rebalancer.extend_session(group, member)
            return Outcome(answers=[(ticket, group.heartbeat_response())])
        if isinstance(group, ConsumerGroup):
            return classic_members.beat(self.consumers.context, group, request, ticket)
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)

    def leave_group(self, request: LeaveGroupRequest, ticket: Ticket) -> Outcome:
        group = self.groups.get(request.group_id)
        if isinstance(group, ClassicGroup):
            return leave_group(self.rebalancer, group, request, ticket)
        if isinstance(group, ConsumerGroup):
            return classic_members.leave(self.consumers.context, group, request, ticket)
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)

    # --- consumer groups (KIP-848) -------------------------------------------------------------------------

    def consumer_group_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, caller: Caller, ticket: Ticket
    ) -> Outcome:
        return self.consumers.heartbeat(request, caller, ticket)

    def describe_consumer_group(self, group_id: str, ticket: Ticket) -> Outcome:
        """Answers a DescribedGroup of ConsumerGroupDescribe."""
        return Outcome(answers=[(ticket, self.consumers.describe(group_id))])
