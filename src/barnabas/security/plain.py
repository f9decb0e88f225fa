"""SASL PLAIN (RFC 4616): name and password in one message, in the clear."""

from __future__ import annotations

from barnabas.security.exchange import ExchangeError


class PlainClient:
    def __init__(self, username: str, password: str) -> None:
        self._username = username
        self._password = password

    def first(self) -> bytes:
        return f"\0{self._username}\0{self._password}".encode()

    def step(self, challenge: bytes) -> bytes | None:
        if challenge:
            raise ExchangeError("PLAIN has one message, and the broker asked for another.")
        return None
