"""Who asks again as soon as it is answered needs no turn of its own for that, and nobody waits for it."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from tests.support.stepped_loop import SteppedLoop

from barnabas.broker.session import Part, PeerFaultError, Session
from barnabas.runtime import receiving

IN_ONE_TURN = 8


def framed(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


class Echo:
    """Answers a frame with itself, after what is to happen `meanwhile`; `park` gets no answer yet."""

    def __init__(self) -> None:
        self.handled: list[bytes] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def handle(self, session: Session, frame: memoryview) -> list[Part] | None:
        self.handled.append(bytes(frame))
        self.meanwhile()
        if bytes(frame) == b"fault":
            raise PeerFaultError("as asked")
        return None if bytes(frame) == b"park" else [framed(bytes(frame))]

    def disconnected(self, session: Session) -> None: ...

    def set_time(self, now_ms: int, wall_ms: int) -> None: ...

    def tick(self) -> int:
        return 20


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the client's part runs inside ours, which takes longer."""
    monkeypatch.setattr(receiving, "_AT_ONCE_NS", 60_000_000_000)


@pytest.fixture
def loop(echo: Echo) -> Iterator[SteppedLoop]:
    with closing(SteppedLoop(echo)) as running:
        yield running


def asks_again(echo: Echo, loop: SteppedLoop, client: socket.socket, *requests: bytes) -> None:
    """The first now, each of the others while the one before it is being answered."""
    left = list(requests)

    def ask() -> None:
        if left:
            loop.say(client, framed(left.pop(0)))

    echo.meanwhile = ask
    ask()


def numbered(count: int) -> list[bytes]:
    return [b"%03d" % number for number in range(count)]


def test_who_asks_again_at_once_is_answered_in_the_same_turn(echo: Echo, loop: SteppedLoop) -> None:
    client, requests = loop.connect(), numbered(IN_ONE_TURN)
    asks_again(echo, loop, client, *requests)
    loop.go_round()
    assert client.recv(1000) == b"".join(map(framed, requests))


def test_not_for_ever(echo: Echo, loop: SteppedLoop) -> None:
    client, other = loop.connect(), loop.connect()
    asks_again(echo, loop, client, *numbered(IN_ONE_TURN + 5))
    loop.go_round()
    assert len(echo.handled) == IN_ONE_TURN
    loop.say(other, framed(b"other"))
    loop.go_round()
    assert echo.handled[IN_ONE_TURN:].index(b"other") <= 1
    assert other.recv(1000) == framed(b"other")


def test_who_asks_for_much_has_a_turn_for_each(
    echo: Echo, loop: SteppedLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiving, "_AT_ONCE_NS", 0)
    asks_again(echo, loop, loop.connect(), *numbered(3))
    for count in (1, 2, 3):
        loop.go_round()
        assert len(echo.handled) == count


def test_those_who_ask_together_have_a_turn_each(echo: Echo, loop: SteppedLoop) -> None:
    clients = [loop.connect(), loop.connect()]
    for client in clients:
        loop.say(client, framed(b"first"))
    echo.meanwhile = lambda: loop.say(clients[0], framed(b"again"))
    loop.go_round()
    assert echo.handled == [b"first", b"first"]


@pytest.mark.parametrize("last", [b"park", b"fault"])
def test_it_ends_with_one_that_is_not_answered(echo: Echo, loop: SteppedLoop, last: bytes) -> None:
    client = loop.connect()
    asks_again(echo, loop, client, b"one", last, b"later")
    loop.go_round()
    loop.go_round()
    assert echo.handled == [b"one", last]
    assert client.recv(1000) == framed(b"one")


def test_half_a_request_waits_for_the_rest(echo: Echo, loop: SteppedLoop) -> None:
    client, whole = loop.connect(), framed(b"in two pieces")
    echo.meanwhile = lambda: loop.say(client, whole[:7])
    loop.say(client, framed(b"one"))
    loop.go_round()
    assert echo.handled == [b"one"]
    echo.meanwhile = lambda: None
    loop.say(client, whole[7:])
    loop.go_round()
    assert echo.handled == [b"one", b"in two pieces"]


def test_whoever_does_not_ask_again_is_rarely_waited_for(echo: Echo, loop: SteppedLoop) -> None:
    client = loop.connect()
    (connection,) = loop.reactor.connections.values()
    counted = connection.socket = CountedSocket(connection.socket)  # type: ignore[assignment]
    for request in numbered(200):
        loop.say(client, framed(request))
        loop.go_round()
    assert len(echo.handled) == 200
    assert 200 < counted.looks < 215


class CountedSocket:
    def __init__(self, real: socket.socket) -> None:
        self._real = real
        self.looks = 0

    def recv_into(self, buffer: memoryview) -> int:
        self.looks += 1
        return self._real.recv_into(buffer)

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)
