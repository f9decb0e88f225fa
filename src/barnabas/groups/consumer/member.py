"""A member of a consumer group: what it asked for, which epoch it has reached, what it owns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import IntEnum
from types import MappingProxyType
from typing import TypeAlias

from barnabas.protocol.internal.groups import ClassicMemberMetadata, ClassicProtocol

# By topic id and partition: the epoch in which the member was given it.
Owned: TypeAlias = Mapping[bytes, Mapping[int, int]]

NOTHING_OWNED: Owned = MappingProxyType({})

LEAVES = -1
LEAVES_FOR_NOW = -2  # a static member that will be back


class MemberState(IntEnum):
    """As it is stored."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1  # it must give something up before it moves on
    UNRELEASED_PARTITIONS = 2  # others must give something up that it shall have
    UNKNOWN = 127  # written by a newer version

    @classmethod
    def read(cls, number: int) -> MemberState:
        return cls(number) if number in tuple(cls) else cls.UNKNOWN


@dataclass(frozen=True, slots=True)
class Member:
    member_id: str
    epoch: int = 0
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topics: frozenset[str] = frozenset()
    topic_regex: str = ""
    assignor: str | None = None
    assigned: Owned = field(default_factory=lambda: NOTHING_OWNED)
    pending_revocation: Owned = field(default_factory=lambda: NOTHING_OWNED)
    classic: ClassicMemberMetadata | None = None  # of a member that still speaks the classic protocol

    @property
    def speaks_classic(self) -> bool:
        return self.classic is not None

    @property
    def classic_protocols(self) -> Sequence[ClassicProtocol]:
        return self.classic.supported_protocols if self.classic is not None else ()

    def is_reconciled_to(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == epoch

    def assignment_epoch(self, topic_id: bytes, partition: int) -> int | None:
        """Since when it owns the partition, even if it is asked to give it up."""
        for owned in (self.assigned, self.pending_revocation):
            epoch = owned.get(topic_id, {}).get(partition)
            if epoch is not None:
                return epoch
        return None

    def moved_to(self, epoch: int, state: MemberState, assigned: Owned, revoked: Owned) -> Member:
        return replace(
            self,
            epoch=epoch,
            previous_epoch=self.epoch,
            state=state,
            assigned=assigned,
            pending_revocation=revoked,
        )

    def gone_for_now(self) -> Member:
        """A static member keeps its partitions while it is away, in no epoch: no late commit passes."""
        assigned = {topic_id: dict.fromkeys(partitions, 0) for topic_id, partitions in self.assigned.items()}
        return replace(self, epoch=LEAVES_FOR_NOW, assigned=assigned, pending_revocation=NOTHING_OWNED)

    def replaced_by(self, member_id: str) -> Member:
        """The same static member, back under another id."""
        return replace(self, member_id=member_id, epoch=0, previous_epoch=0)


def owns_any(owned: Mapping[bytes, Set[int]] | None, wanted: Owned) -> bool:
    """Whether a member that reports `owned` still has one of `wanted`; silence counts as yes."""
    if owned is None:
        return True
    return any(not partitions.isdisjoint(wanted.get(topic_id, ())) for topic_id, partitions in owned.items())


def owns_only(owned: Mapping[bytes, Set[int]] | None, allowed: Owned) -> bool:
    if owned is None:
        return False
    return all(
        topic_id in allowed and partitions <= allowed[topic_id].keys()
        for topic_id, partitions in owned.items()
    )
