from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from barnabas.wire import NetworkError, TimedOutError
from barnabas.wire.transport import PlainTransport


@pytest.fixture
def pair() -> Iterator[tuple[PlainTransport, socket.socket]]:
    ours, theirs = socket.socketpair()
    yield PlainTransport(ours), theirs
    ours.close()
    theirs.close()


def test_pieces_are_put_together(pair: tuple[PlainTransport, socket.socket]) -> None:
    transport, peer = pair
    peer.sendall(b"ab")
    threading.Timer(0.02, peer.sendall, [b"cd"]).start()
    assert transport.receive(4, 60) == b"abcd"


def test_a_closed_connection_is_told_from_a_slow_one(pair: tuple[PlainTransport, socket.socket]) -> None:
    transport, peer = pair
    with pytest.raises(TimedOutError):
        transport.receive(1, 0.01)
    peer.close()
    with pytest.raises(NetworkError, match="closed the connection"):
        transport.receive(1, 60)


def test_a_peer_that_drips_bytes_does_not_hold_us(pair: tuple[PlainTransport, socket.socket]) -> None:
    transport, peer = pair
    stop = threading.Event()

    def drip() -> None:
        while not stop.wait(0.01):
            peer.sendall(b".")

    dripping = threading.Thread(target=drip)
    dripping.start()
    try:
        with pytest.raises(TimedOutError):
            transport.receive(300, 0.2)
    finally:
        stop.set()
        dripping.join()
