"""What the node knows of one connection, without its socket."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from barnabas.ports import FileSlice

if TYPE_CHECKING:
    from barnabas.broker.produce_template import ProduceTemplate

# A reply leaves as bytes and file slices, the length prefix included.
Part: TypeAlias = bytes | FileSlice


class PeerFaultError(Exception):
    """The peer broke the protocol: close its connection, with one log line, and go on."""


class NotThisTimeError(Exception):
    """A template saw a frame it was not made for: the general way takes it."""


class Session:
    __slots__ = (
        "client_id", "closed", "listener", "peer", "send", "software_name", "software_version", "template",
    )  # fmt: skip

    def __init__(self, listener: str, peer: str, send: Callable[[list[Part]], None]) -> None:
        self.listener = listener
        self.peer = peer
        self.send = send  # delivers a reply that was parked
        self.client_id: str | None = None
        self.software_name = "unknown"
        self.software_version = "unknown"
        self.template: ProduceTemplate | None = None
        self.closed = False
