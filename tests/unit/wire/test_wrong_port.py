"""What a client hears that does not speak TLS to a port that does."""

from __future__ import annotations

import pytest

from barnabas.wire import Connection, Settings, TlsError


class Alarmed:
    """Answers whatever comes with TLS's `unexpected message`."""

    def __init__(self) -> None:
        self.closed = False

    def send(self, data: bytes) -> None:
        assert data

    def receive(self, size: int, timeout_s: float) -> bytearray:
        return bytearray(b"\x15\x03\x03\x00\x02\x02\x0a")[:size]

    def close(self) -> None:
        self.closed = True


def test_a_tls_alert_is_not_taken_for_a_frame_of_a_third_of_a_gigabyte() -> None:
    with pytest.raises(TlsError, match=r"set security\.protocol to SSL"):
        Connection(Alarmed(), Settings())
