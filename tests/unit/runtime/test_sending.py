"""How much of a long reply leaves at a time."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Iterator
from typing import cast

import pytest

from barnabas.broker.session import Session
from barnabas.ports import FileSlice
from barnabas.runtime.connection import Connection, Flushed
from barnabas.runtime.sending import Sender


class Events:
    """epoll, as far as the sender looks at it."""

    def __init__(self) -> None:
        self.others: list[tuple[int, int]] = []

    def poll(self, _timeout: float, _events_max: int) -> list[tuple[int, int]]:
        return self.others


class Endless:
    """A connection whose reply never ends, and whose socket takes everything."""

    cold = False
    interest = select.EPOLLIN

    def __init__(self) -> None:
        self.shares: list[int] = []

    def flush(self, _is_warm: Callable[[FileSlice], bool], share_bytes: int) -> Flushed:
        self.shares.append(share_bytes)
        return Flushed.A_SHARE


class NeverCold:
    def is_cold(self, part: FileSlice) -> bool:
        return False

    def warm(self, part: FileSlice, done: Callable[[], None]) -> None: ...


def drained(sender: Sender) -> list[int]:
    """The shares of one turn."""
    endless = Endless()
    connection = cast(Connection, endless)
    sender.drain(connection)
    assert list(sender.resumed) == [connection], "it comes back for more"
    sender.resumed.clear()
    return endless.shares


@pytest.fixture
def pair() -> Iterator[tuple[Connection, socket.socket]]:
    """A connection, and its client's end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        connection = Connection(ours, 0)
        connection.session = Session("PLAINTEXT", "127.0.0.1", lambda _parts: None)
        connection.interest = select.EPOLLIN
        yield connection, theirs


def a_sender(events: Events) -> Sender:
    return Sender(cast(select.epoll, events), NeverCold(), lambda _connection: None)


def test_somebody_else_waits_for_one_share_and_later_for_a_smaller_one() -> None:
    events = Events()
    sender = a_sender(events)
    events.others = [(9, select.EPOLLIN)]
    (first,), (second,) = drained(sender), drained(sender)
    assert second < first


def test_a_reader_who_is_alone_has_large_shares_again_after_a_while() -> None:
    events = Events()
    sender = a_sender(events)
    large = drained(sender)[0]
    events.others = [(9, select.EPOLLIN)]
    drained(sender)
    events.others = []
    assert drained(sender)[0] < large
    sizes = [size for _ in range(100) for size in drained(sender)]
    assert sizes[-1] == large


def test_a_small_reply_leaves_before_the_first_share_of_a_long_one(
    pair: tuple[Connection, socket.socket],
) -> None:
    """Both asked at the same time, and the small reply waits for others like it only."""
    sender = a_sender(Events())
    asker, client = pair
    sender.answer(asker, [b"small"])
    arrived: list[bool] = []

    class Watching(Endless):
        def flush(self, is_warm: Callable[[FileSlice], bool], share_bytes: int) -> Flushed:
            arrived.append(bool(select.select([client], [], [], 0)[0]))
            return super().flush(is_warm, share_bytes)

    sender.drain(cast(Connection, Watching()))
    assert arrived[0]


@pytest.mark.parametrize(("apart_us", "has_left"), [(20, b""), (400, b"firstsecond")])
def test_what_is_answered_quickly_leaves_together(
    monkeypatch: pytest.MonkeyPatch, pair: tuple[Connection, socket.socket], apart_us: int, has_left: bytes
) -> None:
    """And where a reply has taken long, those that wait do not wait for another."""
    sender = a_sender(Events())
    asker, client = pair
    client.setblocking(False)
    for number, reply in enumerate((b"first", b"second")):
        monkeypatch.setattr(time, "monotonic_ns", lambda at=number: 10**9 + at * apart_us * 1000)
        sender.answer(asker, [reply])
    assert _arrived(client) == has_left
    sender.send_answers()
    assert has_left + _arrived(client) == b"firstsecond"


def _arrived(client: socket.socket) -> bytes:
    try:
        return client.recv(16)
    except BlockingIOError:
        return b""
