"""Sizes of the kernel's buffers: those that somebody wrote down, and the kernel's own otherwise."""

from __future__ import annotations

import socket

import pytest

from barnabas.model.settings.broker import BrokerSettings
from barnabas.runtime.listeners import bind
from barnabas.runtime.socket_buffers import of_clients, of_replicas

ASKED_BYTES = 40_960


def sizes(of: socket.socket) -> tuple[int, int]:
    return (
        of.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
        of.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF),
    )


def accepted_sizes(settings: BrokerSettings) -> tuple[int, int]:
    with bind("127.0.0.1", 0, 8, of_clients(settings)) as listener:
        listener.setblocking(True)
        with socket.create_connection(listener.getsockname()):
            accepted, _ = listener.accept()
            with accepted:
                return sizes(accepted)


def test_a_clients_connection_has_the_sizes_that_were_asked_for() -> None:
    asked = {"socket.receive.buffer.bytes": str(ASKED_BYTES), "socket.send.buffer.bytes": str(ASKED_BYTES)}
    # The kernel adds as much again for its own records.
    assert accepted_sizes(BrokerSettings(asked)) == (2 * ASKED_BYTES, 2 * ASKED_BYTES)


@pytest.mark.parametrize("properties", [{}, {"socket.receive.buffer.bytes": "-1"}])
def test_what_nobody_asked_for_is_left_to_the_system(properties: dict[str, str]) -> None:
    with (
        bind("127.0.0.1", 0, 8) as untouched,
        bind("127.0.0.1", 0, 8, of_clients(BrokerSettings(properties))) as listener,
    ):
        assert sizes(listener) == sizes(untouched)


def test_a_followers_connection_has_the_size_that_was_asked_for() -> None:
    settings = BrokerSettings({"replica.socket.receive.buffer.bytes": str(ASKED_BYTES)})
    with socket.socket() as untouched, socket.socket() as line:
        of_replicas(settings).apply(line)
        assert sizes(line) == (2 * ASKED_BYTES, sizes(untouched)[1])
        of_replicas(BrokerSettings({})).apply(untouched)
        assert sizes(untouched) != sizes(line)
