"""What an assignor is told about a group, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol, TypeAlias

Partitions: TypeAlias = Mapping[bytes, Set[int]]  # by topic id; no topic is without partitions

NO_PARTITIONS: Partitions = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MemberSpec:
    topics: frozenset[bytes]  # that it subscribes to and that exist
    partitions: Partitions = field(default_factory=lambda: NO_PARTITIONS)  # its last target
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class GroupSpec:
    members: Mapping[str, MemberSpec]
    partition_counts: Mapping[bytes, int]  # of every subscribed topic
    is_homogeneous: bool  # all members subscribe alike


class Assignor(Protocol):
    name: str

    def assign(self, group: GroupSpec) -> dict[str, Partitions]: ...
