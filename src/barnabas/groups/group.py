"""What every kind of group answers to: the shard keeps them side by side in one dictionary.

A group is a noun with its rules; what it decides becomes entries. Kinds: `classic/` (JoinGroup and
SyncGroup), `consumer/` (KIP-848).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from barnabas.coordination.outcome import Entry, Outcome
from barnabas.model.image import ClusterImage


class GroupType(Enum):
    """As ListGroups filters and prints it."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request."""

    client_id: str
    client_host: str  # with Kafka's leading slash: "/127.0.0.1"
    version: int  # of the request


# Topic, topic id (all zero if the request names topics) and partition.
PartitionCheck: TypeAlias = Callable[[str, bytes, int], None]


class Group(ABC):
    group_id: str
    type: GroupType

    @property
    @abstractmethod
    def state(self) -> str:
        """In Kafka's spelling: "Empty", "PreparingRebalance", "Stable", "Assigning"…"""

    @property
    @abstractmethod
    def protocol_type(self) -> str: ...

    @abstractmethod
    def check_offset_commit(
        self, member_id: str, instance_id: str | None, epoch: int, *, transactional: bool, version: int
    ) -> PartitionCheck | None:
        """Raises ApiError unless this member of this generation (or member epoch) may commit. What it
        returns, if anything, is asked about every partition, and refuses the whole request by raising."""

    @abstractmethod
    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None: ...

    @abstractmethod
    def check_offset_delete(self) -> None: ...

    @abstractmethod
    def check_delete(self) -> None:
        """Raises ApiError (NON_EMPTY_GROUP…) unless DeleteGroups may remove it."""

    @abstractmethod
    def is_subscribed_to(self, topic: str) -> bool: ...

    @abstractmethod
    def tombstones(self) -> list[Entry]:
        """What removes every trace of the group but its offsets."""

    @abstractmethod
    def offset_retention_start_ms(self, committed_ms: int) -> int | None:
        """The wall time from which `offsets.retention.minutes` counts for an offset committed then; None: it
        does not expire while the group is as it is. Of a topic that `is_subscribed_to` none expires."""

    @property
    @abstractmethod
    def is_empty(self) -> bool: ...

    @abstractmethod
    def unloaded(self) -> None:
        """We are no longer the coordinator: refuse whoever waits."""

    def member_ids(self) -> Iterable[str]:
        return ()

    def loaded(self) -> Iterable[Outcome]:
        """The log is replayed and we are the coordinator: start timers, resume what was under way."""
        return ()

    def image_changed(self, old: ClusterImage) -> Iterable[Outcome]:
        """Topics came, went or grew."""
        return ()
