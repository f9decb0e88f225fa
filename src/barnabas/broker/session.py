"""What the node knows of one connection, without its socket."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

from barnabas.ports import FileSlice

# A reply leaves as bytes and file slices, the length prefix included.
Part: TypeAlias = bytes | FileSlice


class PeerFaultError(Exception):
    """The peer broke the protocol: close its connection, with one log line, and go on."""


class NotThisTimeError(Exception):
    """A template saw a frame it was not made for: the general way takes it."""


class Foreseen(NamedTuple):
    """A request that has not come yet, but for its correlation id (the third four bytes of it, and the second
    of the reply), and the reply it will get."""

    before: bytes  # of the correlation id, the length prefix included
    after: bytes
    parts: list[Part]


class Template(Protocol):
    """A short way through one API for a client that sends nearly the same request again and again."""

    def handle(self, session: Session, frame: memoryview) -> list[Part] | None:
        """What `Dispatcher.handle` would return; raises `NotThisTimeError` for any other request."""
        ...

    def foresee(self, records: memoryview, /) -> Foreseen | None:
        """What a client that was just given these records will ask for next, if that can be told. The answer
        holds until something else is handled."""
        ...


class Session:
    __slots__ = (
        "_seen", "client_id", "closed", "forwarded", "listener", "peer", "send", "software_name",
        "software_version", "template",
    )  # fmt: skip

    def __init__(self, listener: str, peer: str, send: Callable[[list[Part]], None]) -> None:
        self.listener = listener
        self.peer = peer
        self.send = send  # delivers a reply that was parked
        self.client_id: str | None = None
        self.software_name = "unknown"
        self.software_version = "unknown"
        self.template: Template | None = None
        self.closed = False
        self.forwarded = False  # by another broker, which has looked at what concerns itself
        self._seen: object = None

    def repeats(self, what: object) -> bool:
        """Whether the last one to ask this asked it of the same thing: only a habit is worth a template."""
        repeated = self._seen is what
        self._seen = what
        return repeated
