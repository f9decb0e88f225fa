"""How one member gets from what it owns to what it shall own, without stopping the others.

First it gives up what others shall have (UNREVOKED_PARTITIONS, in its old epoch); then it moves to the
target's epoch and gets what is free; what others still hold it gets later (UNRELEASED_PARTITIONS).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

from barnabas.groups.assignors import Partitions
from barnabas.groups.consumer.member import NOTHING_OWNED, Member, MemberState, Owned, owns_any
from barnabas.model.errors import ApiError, ErrorCode


@dataclass(frozen=True, slots=True)
class Reconciliation:
    target_epoch: int
    target: Partitions
    owned: Mapping[bytes, Set[int]] | None  # as the member reports it; None: it says nothing
    subscribed: Set[bytes]
    is_taken: Callable[[bytes, int], bool]  # by any member, in any state
    subscription_changed: bool = False

    def next_state(self, member: Member) -> Member:
        match member.state:
            case MemberState.STABLE if member.epoch == self.target_epoch:
                return self._without_unsubscribed(member)
            case MemberState.STABLE | MemberState.UNRELEASED_PARTITIONS:
                return self._towards_target(member, member.epoch)
            case MemberState.UNREVOKED_PARTITIONS:
                if owns_any(self.owned, member.pending_revocation):
                    return self._without_unsubscribed(member)
                return self._towards_target(member, member.epoch)
            case _:
                return self._from_unknown(member)

    def _from_unknown(self, member: Member) -> Member:
        if self.owned is None or self.owned:
            raise ApiError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                "The consumer group member is in a unknown state. "
                "The member must abandon all its partitions and rejoin.",
            )
        return self._towards_target(member, self.target_epoch)

    def _without_unsubscribed(self, member: Member) -> Member:
        """A topic it no longer subscribes to is taken away at once, even if there is no new target yet."""
        if not self.subscription_changed:
            return member
        kept: dict[bytes, Mapping[int, int]] = {}
        revoked = dict(member.pending_revocation)
        for topic_id, partitions in member.assigned.items():
            if topic_id in self.subscribed:
                kept[topic_id] = partitions
            else:
                revoked[topic_id] = {**revoked.get(topic_id, {}), **partitions}
        if len(kept) == len(member.assigned):
            return member
        if owns_any(self.owned, revoked):
            return member.moved_to(member.epoch, MemberState.UNREVOKED_PARTITIONS, kept, revoked)
        return member.moved_to(member.epoch, member.state, kept, member.pending_revocation)

    def _towards_target(self, member: Member, epoch: int) -> Member:
        kept: dict[bytes, dict[int, int]] = {}
        revoked: dict[bytes, dict[int, int]] = {}
        for topic_id, partitions in member.assigned.items():
            target = self._target_of(topic_id)
            for partition, since in partitions.items():
                (kept if partition in target else revoked).setdefault(topic_id, {})[partition] = since
        if revoked and owns_any(self.owned, revoked):
            return member.moved_to(epoch, MemberState.UNREVOKED_PARTITIONS, kept, revoked)
        waits = self._add_free(member, kept)
        state = MemberState.UNRELEASED_PARTITIONS if waits else MemberState.STABLE
        return member.moved_to(self.target_epoch, state, kept, NOTHING_OWNED)

    def _target_of(self, topic_id: bytes) -> Set[int]:
        return self.target.get(topic_id, frozenset()) if topic_id in self.subscribed else frozenset()

    def _add_free(self, member: Member, kept: dict[bytes, dict[int, int]]) -> bool:
        """Adds what the member shall have and nobody else owns; True if others still hold some of it."""
        waits = False
        for topic_id in self.target:
            own: Mapping[int, int] = kept.get(topic_id, {})
            for partition in sorted(self._target_of(topic_id) - own.keys()):
                if self._may_take(member, topic_id, partition):
                    kept.setdefault(topic_id, {})[partition] = self.target_epoch
                else:
                    waits = True
        return waits

    def _may_take(self, member: Member, topic_id: bytes, partition: int) -> bool:
        # What it was asked to give up and shall have again was never anybody else's in between.
        own_revoked: Owned = member.pending_revocation
        return partition in own_revoked.get(topic_id, ()) or not self.is_taken(topic_id, partition)
