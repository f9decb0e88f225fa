"""Who is spared a sender that spaces out what it sends."""

from __future__ import annotations

import socket

import pytest

from barnabas.runtime.loopback import is_loopback, send_without_timers


@pytest.mark.parametrize("ip", ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"])
def test_from_this_machine(ip: str) -> None:
    assert is_loopback(ip)


@pytest.mark.parametrize("ip", ["10.0.0.1", "fe80::1%eth0", "::ffff:10.0.0.1", "", "localhost"])
def test_from_elsewhere_or_from_nowhere(ip: str) -> None:
    assert not is_loopback(ip)


@pytest.mark.parametrize(
    ("system", "peer", "then"),
    [
        (b"bbr", "127.0.0.1", b"reno"),
        (b"bbr", "192.0.2.1", b"bbr"),  # there may be a router on the way
        (b"cubic", "127.0.0.1", b"cubic"),  # it sets no timers
    ],
)
def test_only_timers_inside_this_machine_are_done_without(system: bytes, peer: str, then: bytes) -> None:
    with socket.socket() as connection:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, system)
        except OSError:
            pytest.skip(f"this kernel has no {system.decode()}")
        send_without_timers(connection, peer)
        used = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    assert used.rstrip(b"\0") == then


def test_what_is_no_tcp_connection_is_left_alone() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send_without_timers(ours, "127.0.0.1")
