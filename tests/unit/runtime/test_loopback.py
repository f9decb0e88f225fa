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


def congestion(connection: socket.socket) -> bytes:
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0")


def test_bbr_is_replaced_for_a_client_on_this_machine_and_for_no_other() -> None:
    with socket.socket() as connection:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"bbr")
        except OSError:
            pytest.skip("this kernel has no BBR")
        send_without_timers(connection, "192.0.2.1")
        assert congestion(connection) == b"bbr"
        send_without_timers(connection, "127.0.0.1")
        assert congestion(connection) == b"reno"


def test_another_choice_of_the_system_stays() -> None:
    with socket.socket() as connection:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        except OSError:
            pytest.skip("this kernel has no CUBIC")
        send_without_timers(connection, "127.0.0.1")
        assert congestion(connection) == b"cubic"


def test_what_is_no_tcp_connection_is_left_alone() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send_without_timers(ours, "127.0.0.1")
