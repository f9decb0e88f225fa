"""A member of a classic group."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from barnabas.coordination.outcome import Ticket
from barnabas.protocol.messages.describe_groups import DescribedGroupMember
from barnabas.protocol.messages.join_group import JoinGroupRequestProtocol


@dataclass(slots=True, eq=False)
class ClassicMember:
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: dict[str, bytes]  # its metadata by protocol name, in its order of preference
    assignment: bytes = b""
    is_new: bool = False  # has not been part of a generation yet
    join: Ticket | None = None  # a JoinGroup that waits
    sync: Ticket | None = None  # a SyncGroup that waits
    session_due_ms: int = 0
    timer_due_ms: int = 0  # when the session is looked at next; 0: there is no timer

    @property
    def is_static(self) -> bool:
        return self.instance_id is not None

    @property
    def waits(self) -> bool:
        """Who waits for us is alive; unless it never was in a generation: its client may be gone."""
        return not self.is_new and (self.join is not None or self.sync is not None)

    def prefers(self, protocols: dict[str, bytes]) -> bool:
        """The order counts."""
        return list(self.protocols.items()) == list(protocols.items())

    def vote(self, candidates: Collection[str]) -> str:
        return next(name for name in self.protocols if name in candidates)

    def describe(self, protocol: str | None) -> DescribedGroupMember:
        metadata = self.protocols.get(protocol, b"") if protocol is not None else b""
        return DescribedGroupMember(
            self.member_id, self.instance_id, self.client_id, self.client_host, metadata, self.assignment
        )


def protocols_of(rows: Iterable[JoinGroupRequestProtocol]) -> dict[str, bytes]:
    """What is named twice counts as it was named first."""
    protocols: dict[str, bytes] = {}
    for row in rows:
        protocols.setdefault(row.name, row.metadata)
    return protocols
