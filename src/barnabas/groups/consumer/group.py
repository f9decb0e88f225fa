"""A consumer group (KIP-848): its members, the target they move towards, and who owns what meanwhile.

It changes only through replayed records; what shall be written is decided elsewhere in this package.
"""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.coordination.outcome import Entry
from barnabas.groups.assignors import NO_PARTITIONS, Partitions
from barnabas.groups.consumer import records
from barnabas.groups.consumer.member import Member, MemberState, Owned
from barnabas.groups.consumer.subscriptions import Subscriptions
from barnabas.groups.group import Group, GroupType, PartitionCheck
from barnabas.model.errors import ApiError, ErrorCode

# A new group starts here, so that who joins before the first assignment has an epoch other than 0.
FIRST_EPOCH = 1

CONSUMER_PROTOCOL = "consumer"

_FIRST_COMMIT_VERSION_WITH_MEMBER_EPOCHS = 9


class ConsumerGroup(Group):
    type = GroupType.CONSUMER

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.assignment_epoch = FIRST_EPOCH
        self.assigned_wall_ms = 0  # when the target was computed last
        self.members: dict[str, Member] = {}
        self.static_members: dict[str, str] = {}  # from instance id to member id
        self.targets: dict[str, Partitions] = {}
        self.subscriptions = Subscriptions()
        self.has_partition_metadata = False  # a record that only Kafka 4.0 writes
        self._owner_epochs: dict[bytes, dict[int, int]] = {}
        # Soft: the epoch for which the topics were looked at last. None: they may have changed since.
        self.looked_at_topics_in_epoch: int | None = None
        # Soft: when patterns were resolved last, and how many times topics had come by then.
        self.regexes_resolved_ms: int | None = None
        self.regexes_resolved_at_arrival = -1

    # --- what every group says -----------------------------------------------------------------------------

    @property
    def state(self) -> str:
        if not self.members:
            return "Empty"
        if self.epoch > self.assignment_epoch:
            return "Assigning"
        if all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return "Stable"
        return "Reconciling"

    @property
    def protocol_type(self) -> str:
        return CONSUMER_PROTOCOL

    @property
    def is_empty(self) -> bool:
        return not self.members

    def member_ids(self) -> Iterable[str]:
        return self.members

    def is_subscribed_to(self, topic: str) -> bool:
        if topic in self.subscriptions.by_name:
            return True
        return any(topic in resolved.topics for resolved in self.subscriptions.resolved.values())

    def tombstones(self) -> list[Entry]:
        return records.group_tombstones(self)

    def offset_retention_start_ms(self, committed_ms: int) -> int | None:
        return committed_ms

    def unloaded(self) -> None:
        """Nobody ever waits here."""

    # --- checks --------------------------------------------------------------------------------------------

    def member(self, member_id: str) -> Member:
        member = self.members.get(member_id)
        if member is None:
            raise ApiError(
                ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {self.group_id}."
            )
        return member

    def static_member(self, instance_id: str | None) -> Member | None:
        member_id = self.static_members.get(instance_id) if instance_id is not None else None
        return self.members.get(member_id) if member_id is not None else None

    def check_offset_commit(
        self, member_id: str, instance_id: str | None, epoch: int, *, transactional: bool, version: int
    ) -> PartitionCheck | None:
        if epoch < 0 and self.is_empty:
            return None  # an admin client, or a consumer that assigns partitions to itself
        if transactional and epoch == -1 and not member_id and instance_id is None:
            return None
        member = self.member(member_id)
        too_old = version < _FIRST_COMMIT_VERSION_WITH_MEMBER_EPOCHS
        if too_old and not transactional and not member.speaks_classic:
            raise ApiError(
                ErrorCode.UNSUPPORTED_VERSION,
                "OffsetCommit version 9 or above must be used by members using the consumer group protocol",
            )
        if epoch > member.epoch:
            raise _stale(member, epoch, f"is newer than current member epoch {member.epoch}.")
        if epoch == member.epoch:
            return None
        return lambda topic, topic_id, partition: _check_partition(member, epoch, topic, topic_id, partition)

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        if member_id is None and member_epoch < 0:
            return
        member = self.member(member_id or "")
        if member_epoch != member.epoch:
            what = "generation id" if member.speaks_classic else "member epoch"
            raise ApiError(
                _stale_code(member),
                f"The received {what} {member_epoch} does not match the expected member epoch "
                f"{member.epoch}.",
            )

    def check_offset_delete(self) -> None:
        """Offsets of a topic that is subscribed to are kept; that is asked topic by topic."""

    def check_delete(self) -> None:
        if not self.is_empty:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def is_taken(self, topic_id: bytes, partition: int) -> bool:
        """Some member owns it, or has not yet said that it gave it up."""
        return partition in self._owner_epochs.get(topic_id, ())

    def supports_classic(self, protocol_type: str, names: Iterable[str]) -> bool:
        """All members that speak the classic protocol know one of these names."""
        if protocol_type != CONSUMER_PROTOCOL:
            return False
        counts, everybody = self.subscriptions.classic_protocols, self.subscriptions.classic_members
        if self.is_empty:
            return any(True for _ in names)
        return any(counts[name] == everybody for name in names)

    def waits_for_others(self, member: Member) -> bool:
        """Something of its target is not free yet."""
        if member.state is not MemberState.UNRELEASED_PARTITIONS:
            return False
        return any(
            partition not in member.assigned.get(topic_id, ()) and self.is_taken(topic_id, partition)
            for topic_id, partitions in self.target_of(member.member_id).items()
            for partition in partitions
        )

    def target_of(self, member_id: str, instance_id: str | None = None) -> Partitions:
        """A static member inherits what its earlier self was to have."""
        if instance_id is not None:
            member_id = self.static_members.get(instance_id, member_id)
        return self.targets.get(member_id, NO_PARTITIONS)

    @property
    def topics_may_have_changed(self) -> bool:
        """An epoch that was never reached was not written: look again."""
        looked_at = self.looked_at_topics_in_epoch
        return looked_at is None or self.epoch < looked_at

    # --- changes, by replay only ---------------------------------------------------------------------------

    def put(self, member: Member) -> None:
        old = self.members.get(member.member_id)
        if old is not None:
            self.subscriptions.remove(old)
            self._release(old)
        self.members[member.member_id] = member
        self.subscriptions.add(member)
        for owned in (member.assigned, member.pending_revocation):
            self._take(owned, member.epoch)
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id

    def drop(self, member_id: str) -> None:
        old = self.members.pop(member_id, None)
        if old is None:
            return
        self.subscriptions.remove(old)
        self._release(old)
        if old.instance_id is not None and self.static_members.get(old.instance_id) == member_id:
            del self.static_members[old.instance_id]

    def _take(self, owned: Owned, epoch: int) -> None:
        for topic_id, partitions in owned.items():
            epochs = self._owner_epochs.setdefault(topic_id, {})
            for partition in partitions:
                # While a compacted log is read an older owner may come after the newer one.
                epochs[partition] = max(epoch, epochs.get(partition, epoch))

    def _release(self, member: Member) -> None:
        for owned in (member.assigned, member.pending_revocation):
            for topic_id, partitions in owned.items():
                epochs = self._owner_epochs.get(topic_id, {})
                for partition in partitions:
                    if epochs.get(partition) == member.epoch:
                        del epochs[partition]
                if not epochs:
                    self._owner_epochs.pop(topic_id, None)


def _check_partition(member: Member, epoch: int, topic: str, topic_id: bytes, partition: int) -> None:
    """An epoch that is behind may still commit what the member has owned since then."""
    since = member.assignment_epoch(topic_id, partition)
    if since is None:
        raise ApiError(
            _stale_code(member),
            f"Partition {topic}-{partition} is not assigned or pending revocation for member.",
        )
    if epoch < since:
        raise _stale(
            member, epoch, f"is older than assignment epoch {since} for partition {topic}-{partition}."
        )


def _stale_code(member: Member) -> ErrorCode:
    return ErrorCode.ILLEGAL_GENERATION if member.speaks_classic else ErrorCode.STALE_MEMBER_EPOCH


def _stale(member: Member, epoch: int, why: str) -> ApiError:
    what = "generation id" if member.speaks_classic else "member epoch"
    return ApiError(_stale_code(member), f"Received {what} {epoch} {why}")
