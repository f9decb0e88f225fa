"""A SASL conversation without a socket: bytes in, bytes out.

A client says `first()`, then answers each challenge with `step()` until that returns None: then both sides
are content. The peer's fault is an ExchangeError, and so is a challenge too many: every exchange ends.
"""

from __future__ import annotations

from typing import Protocol


class ExchangeError(Exception):
    """The other side failed us: it does not know the password, or speaks another language."""


class ClientExchange(Protocol):
    """One conversation of a client; a second conversation takes a second exchange."""

    def first(self) -> bytes: ...

    def step(self, challenge: bytes) -> bytes | None: ...
