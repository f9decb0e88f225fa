"""The reply that is ready before it is asked for is the one that would have been given."""

from __future__ import annotations

import random
import select
import socket
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.foreseen import WAYS
from tests.support.stepped_loop import SteppedLoop

from barnabas.broker.session import Foreseen, Part, Session
from barnabas.ports import FileSlice
from barnabas.runtime import small_replies
from barnabas.runtime.connection import Connection
from barnabas.runtime.files import RealFile, RealFilesystem
from barnabas.runtime.small_replies import SmallReplies

PIECE = 1_000
CONTENT = random.Random(5).randbytes(64 * PIECE)


def request(correlation_id: int, number: int, verb: bytes = b"read") -> bytes:
    body = verb + struct.pack(">ii", correlation_id, number)
    return struct.pack(">i", len(body)) + body


class Shelf:
    """Gives the piece of a file that is asked for, between the number of times it was told to `turn` and the
    number of the piece; also a template that foresees the next piece."""

    def __init__(self, file: RealFile) -> None:
        self.file = file
        self.turns = 0
        self.handled = 0

    def handle(self, session: Session, frame: memoryview) -> list[Part]:
        self.handled += 1
        session.template = self
        if len(frame) > 12:
            return [b"too long"]
        verb, correlation_id, number = struct.unpack(">4sii", frame)
        if verb == b"turn":
            self.turns += 1
        return self.parts(correlation_id, number)

    def parts(self, correlation_id: int, number: int) -> list[Part]:
        head = struct.pack(">iii", 12 + PIECE, correlation_id, self.turns)
        return [head, FileSlice(self.file, number * PIECE, PIECE), struct.pack(">i", number)]

    def foresee(self, records: memoryview, /) -> Foreseen:
        number = CONTENT.index(bytes(records)) // PIECE + 1
        whole = request(0, number)
        return Foreseen(whole[:8], whole[12:], self.parts(0, number))

    def disconnected(self, session: Session) -> None: ...

    def set_time(self, now_ms: int, wall_ms: int) -> None: ...

    def tick(self) -> int:
        return 20


def expected(correlation_id: int, turns: int, number: int) -> bytes:
    piece = CONTENT[number * PIECE : (number + 1) * PIECE]
    return struct.pack(">iii", 12 + PIECE, correlation_id, turns) + piece + struct.pack(">i", number)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    path = tmp_path / "segment"
    path.write_bytes(CONTENT)
    with closing(RealFilesystem().open(str(path))) as file:
        yield Shelf(file)


def reply_to(client: socket.socket) -> bytes:
    return client.recv(16 + PIECE, socket.MSG_WAITALL)


class Loop(SteppedLoop):
    def read(self, client: socket.socket, correlation_id: int, number: int) -> bytes:
        self.go_round(lambda: self.say(client, request(correlation_id, number)))
        return reply_to(client)


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_replies, "reply_when_asked", request.param)


@pytest.fixture
def loop(way: None, shelf: Shelf) -> Iterator[Loop]:
    with closing(Loop(shelf)) as running:
        yield running


def test_a_reader_who_reads_on_finds_its_reply_ready(shelf: Shelf, loop: Loop) -> None:
    client = loop.connect()
    for number in range(20):
        assert loop.read(client, 7 + number, number) == expected(7 + number, 0, number)
    assert shelf.handled == 2


def test_a_reader_who_jumps_gets_what_it_asks_for(loop: Loop) -> None:
    chance, number, client = random.Random(1), 0, loop.connect()
    for correlation_id in range(60):
        number = chance.choice((number + 1, number, chance.randrange(40)))
        assert loop.read(client, correlation_id, number) == expected(correlation_id, 0, number)


def test_readers_who_take_turns_get_their_own(shelf: Shelf, loop: Loop) -> None:
    readers = (loop.connect(), loop.connect())
    for number in range(10):
        for at, reader in enumerate(readers):
            assert loop.read(reader, at, number + 20 * at) == expected(at, 0, number + 20 * at)
    assert shelf.handled == 20


def test_what_was_asked_at_the_same_time_and_came_first_is_in_the_reply(shelf: Shelf, loop: Loop) -> None:
    reader, other = loop.connect(), loop.connect()
    for number in (0, 1, 2):
        loop.read(reader, number, number)

    def both() -> None:
        loop.say(other, request(0, 0, b"turn"))
        loop.say(reader, request(3, 3))

    loop.go_round(both)
    assert reply_to(reader) == expected(3, 1, 3)


def test_what_was_changed_before_the_request_is_in_the_reply(loop: Loop) -> None:
    reader, other = loop.connect(), loop.connect()
    for number in (0, 1, 2):
        loop.read(reader, number, number)
    loop.go_round(lambda: loop.say(other, request(0, 0, b"turn")))
    loop.say(reader, request(3, 3))
    loop.go_round()
    assert reply_to(reader) == expected(3, 1, 3)


def test_the_rest_of_a_request_is_no_request(loop: Loop) -> None:
    """It may look like one: here it is a frame of its own inside a longer one."""
    client = loop.connect()
    for number in (0, 1, 2):
        loop.read(client, number, number)
    rest = request(3, 3)
    length = struct.pack(">i", 4 + len(rest))
    loop.say(client, length + b"read")
    loop.go_round()
    loop.go_round(lambda: loop.say(client, rest))
    assert client.recv(1_000) == b"too long"


def test_a_ready_reply_arrives_whole_through_a_narrow_socket(way: None, shelf: Shelf) -> None:
    ours, client = socket.socketpair()
    ours.setblocking(False)
    connection = Connection(ours, 0)
    connection.session = Session("PLAINTEXT", "peer", lambda _parts: None)
    small = SmallReplies()
    for number in (0, 1):
        assert small.send(
            connection, shelf.handle(connection.session, memoryview(request(number, number))[4:])
        )
        assert reply_to(client) == expected(number, 0, number)
    ready = small.foresee()
    assert ready is not None
    fill(ours)
    filled = len(client.recv(1 << 20, socket.MSG_DONTWAIT | socket.MSG_PEEK))
    client.sendall(request(9, 2))
    with closing(select.epoll()) as epoll:
        epoll.register(ours, select.EPOLLIN)
        assert small.send_when_asked(ready, epoll, 1)
    assert connection.out, "the socket was meant to be too narrow"
    assert sum(len(part) for part in connection.out if isinstance(part, bytes)) <= 16
    client.setblocking(False)
    arrived = bytearray()
    while len(arrived) < filled + 16 + PIECE:
        connection.flush(lambda _part: True, 1 << 18)
        arrived += client.recv(1 << 20)
    assert bytes(arrived[-16 - PIECE :]) == expected(9, 0, 2)
    ours.close()
    client.close()


def fill(ours: socket.socket) -> None:
    """Leave the socket with less room than a reply needs."""
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    try:
        while True:
            ours.send(b"x" * 512)
    except BlockingIOError:
        return
