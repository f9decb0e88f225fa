"""A reply that is ready leaves when exactly its request has come; whatever else came stays where it is."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.support.foreseen import WAYS, Way

from barnabas.runtime.foreseen import NOT_ASKED

BEFORE, ID, AFTER = b"size\0\1\0\4", b"id-7", b"what is wanted"
REQUEST = BEFORE + ID + AFTER
LOOKS = 3


class Pair:
    """Our end of a connection and the client's, and the epoll that watches ours."""

    def __init__(self) -> None:
        self.ours, self.client = socket.socketpair()
        self.ours.setblocking(False)
        self.epoll = select.epoll()
        self.epoll.register(self.ours, select.EPOLLIN)

    def close(self) -> None:
        for end in (self.ours, self.client, self.epoll):
            end.close()


@pytest.fixture
def pair() -> Iterator[Pair]:
    with closing(Pair()) as made:
        yield made


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    chosen: Way = request.param
    return chosen


def fill(ours: socket.socket) -> None:
    try:
        while True:
            ours.send(b"x" * 4096)
    except BlockingIOError:
        return


def answer(way: Way, pair: Pair, before: bytes = BEFORE, after: bytes = AFTER) -> int:
    return way(pair.epoll, pair.ours, LOOKS, before, after, memoryview(bytearray(b"long....reply")))


def test_the_request_gets_the_reply_with_its_own_id(way: Way, pair: Pair) -> None:
    for correlation_id in (b"id-7", b"\xff\0\xff\0"):
        pair.client.sendall(BEFORE + correlation_id + AFTER)
        assert answer(way, pair) == 13
        assert pair.client.recv(100) == b"long" + correlation_id + b"reply"
    assert answer(way, pair) == NOT_ASKED, "the requests have been taken"


@pytest.mark.parametrize(
    "sent",
    [b"", REQUEST[:-1], REQUEST + b"x", REQUEST * 2, b"S" + REQUEST[1:], REQUEST[:-1] + b"D", b"x"],
)
def test_anything_else_is_left_in_the_socket(way: Way, pair: Pair, sent: bytes) -> None:
    pair.client.sendall(sent)
    assert answer(way, pair) == NOT_ASKED
    assert not select.select([pair.client], [], [], 0)[0], "something was answered"
    assert (pair.ours.recv(1000) if sent else b"") == sent


def test_who_asks_and_hangs_up_is_left_to_the_general_way(way: Way, pair: Pair) -> None:
    pair.client.sendall(REQUEST)
    pair.client.close()
    assert answer(way, pair) == NOT_ASKED


def test_when_somebody_else_wants_something_nobody_is_answered(way: Way, pair: Pair) -> None:
    with closing(Pair()) as other:
        pair.epoll.register(other.ours, select.EPOLLIN)
        other.client.sendall(b"x")
        assert answer(way, pair) == NOT_ASKED
        pair.client.sendall(REQUEST)
        assert answer(way, pair) == NOT_ASKED
    assert pair.ours.recv(1000) == REQUEST


def test_a_socket_that_is_full_takes_what_it_can(way: Way, pair: Pair) -> None:
    fill(pair.ours)
    pair.client.sendall(REQUEST)
    assert answer(way, pair) == 0
    with pytest.raises(BlockingIOError):
        pair.ours.recv(1)


def test_a_request_that_nobody_would_send_is_not_looked_for(way: Way, pair: Pair) -> None:
    after = b"x" * 4096
    pair.client.sendall(BEFORE + ID + after)
    assert answer(way, pair, after=after) == NOT_ASKED


def test_a_reply_without_room_for_the_id_is_not_sent(way: Way, pair: Pair) -> None:
    pair.client.sendall(REQUEST)
    assert way(pair.epoll, pair.ours, LOOKS, BEFORE, AFTER, memoryview(bytearray(7))) == NOT_ASKED


@pytest.mark.parametrize("reply", [b"only to be read", None])
def test_a_reply_that_cannot_be_written_is_an_error(way: Way, pair: Pair, reply: object) -> None:
    pair.client.sendall(REQUEST)
    with pytest.raises(TypeError):
        way(pair.epoll, pair.ours, LOOKS, BEFORE, AFTER, reply)
