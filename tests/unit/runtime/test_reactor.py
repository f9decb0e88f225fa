"""The loop, with an application that answers what it is told to."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator

import pytest
from tests.support.stepped_loop import NeverCold
from tests.support.waiting import eventually

from barnabas.broker.session import Part, Session
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.listeners import Limits, bind
from barnabas.runtime.reactor import Reactor
from barnabas.runtime.workers import Wakeup

ADDRESS = "127.0.0.1"
PATIENCE_S = 60


class Echo:
    """Answers a frame with itself. `park` waits for `release`; `mute` gets no answer; `bug` is one."""

    def __init__(self) -> None:
        self.parked: list[tuple[Session, bytes]] = []
        self.gone: list[Session] = []

    def handle(self, session: Session, frame: memoryview) -> list[Part] | None:
        data = bytes(frame)
        if data.startswith(b"park"):
            self.parked.append((session, data))
            return None
        if data == b"mute":
            return []
        if data == b"bug":
            raise KeyError("oops")
        if data == b"big":
            return [framed(b"x" * (8 << 20))]
        return [framed(data)]

    def disconnected(self, session: Session) -> None:
        self.gone.append(session)

    def set_time(self, now_ms: int, wall_ms: int) -> None: ...

    def tick(self) -> int:
        return 20

    def release(self) -> None:
        session, data = self.parked.pop(0)
        session.send([framed(data)])


class Loop:
    def __init__(self, limits: Limits) -> None:
        self.echo = Echo()
        self.reactor = Reactor(self.echo, SystemClock(), limits, NeverCold())
        listener = bind(ADDRESS, 0, 128)
        self.port = listener.getsockname()[1]
        self.reactor.accept_from("PLAINTEXT", listener)
        self._listener = listener
        self._stopped = False
        self._calls: list[Callable[[], None]] = []
        self._wakeup = Wakeup()
        self.reactor.attach(self._wakeup.fd, self._run_calls)
        self._thread = threading.Thread(target=self.reactor.run, args=(lambda: self._stopped,))
        self._thread.start()

    def _run_calls(self) -> None:
        self._wakeup.clear()
        while self._calls:
            self._calls.pop(0)()

    def on_loop(self, call: Callable[[], None]) -> None:
        done = threading.Event()

        def run() -> None:
            call()
            done.set()

        self._calls.append(run)
        self._wakeup.set()
        assert done.wait(PATIENCE_S)

    def connect(self) -> socket.socket:
        client = socket.create_connection((ADDRESS, self.port), timeout=PATIENCE_S)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def close(self) -> None:
        self._stopped = True
        self._wakeup.set()
        self._thread.join(PATIENCE_S)
        self.reactor.close()
        self._listener.close()
        self._wakeup.close()


@pytest.fixture
def limits() -> Limits:
    return Limits()


@pytest.fixture
def loop(limits: Limits) -> Iterator[Loop]:
    running = Loop(limits)
    yield running
    running.close()


def assert_soon(condition: Callable[[], bool]) -> None:
    eventually(condition, PATIENCE_S)


def framed(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def read_frame(client: socket.socket) -> bytes:
    return read_exactly(client, struct.unpack(">i", read_exactly(client, 4))[0])


def read_exactly(client: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = client.recv(size - len(data))
        assert piece, "closed inside a frame"
        data += piece
    return bytes(data)


def is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def test_pipelined_frames_are_answered_in_order(loop: Loop) -> None:
    with loop.connect() as client:
        words = [b"%d" % number for number in range(500)]
        client.sendall(b"".join(map(framed, words)))
        assert [read_frame(client) for _ in words] == words


def test_a_frame_may_come_byte_by_byte(loop: Loop) -> None:
    with loop.connect() as client:
        for byte in framed(b"slow"):
            client.sendall(bytes((byte,)))
        assert read_frame(client) == b"slow"


def test_a_large_frame_comes_whole(loop: Loop) -> None:
    data = bytes(range(256)) * 20_000
    with loop.connect() as client:
        client.sendall(framed(data) + framed(b"after"))
        assert read_frame(client) == data
        assert read_frame(client) == b"after"


def test_a_parked_request_is_not_overtaken(loop: Loop) -> None:
    with loop.connect() as client, loop.connect() as other:
        client.sendall(framed(b"first") + framed(b"park") + framed(b"third"))
        assert read_frame(client) == b"first"
        other.sendall(framed(b"not held up"))
        assert read_frame(other) == b"not held up"
        client.settimeout(0.1)
        with pytest.raises(TimeoutError):
            client.recv(1)
        client.settimeout(PATIENCE_S)
        loop.on_loop(loop.echo.release)
        assert read_frame(client) == b"park"
        assert read_frame(client) == b"third"


def test_a_request_without_reply_does_not_stop_the_next(loop: Loop) -> None:
    with loop.connect() as client:
        client.sendall(framed(b"mute") + framed(b"next"))
        assert read_frame(client) == b"next"


@pytest.mark.parametrize("length", [-1, 2**31 - 1, 104857601])
def test_an_absurd_length_closes_the_connection_and_no_other(loop: Loop, length: int) -> None:
    with loop.connect() as bad, loop.connect() as good:
        bad.sendall(struct.pack(">i", length) + b"xyz")
        assert is_closed(bad)
        good.sendall(framed(b"fine"))
        assert read_frame(good) == b"fine"


def test_a_bug_costs_one_connection(loop: Loop) -> None:
    with loop.connect() as bad, loop.connect() as good:
        bad.sendall(framed(b"bug"))
        assert is_closed(bad)
        good.sendall(framed(b"fine"))
        assert read_frame(good) == b"fine"


def test_a_reader_that_never_drains_is_not_read_from(loop: Loop) -> None:
    with loop.connect() as lazy, loop.connect() as other:
        for _ in range(20):
            lazy.sendall(framed(b"big"))
        other.sendall(framed(b"fine"))
        assert read_frame(other) == b"fine"
        queued: list[int] = []
        loop.on_loop(
            lambda: queued.extend(
                sum(len(part) for part in connection.out) for connection in loop.reactor.connections.values()
            )
        )
        assert max(queued) <= 8 << 20
        for _ in range(20):
            assert len(read_frame(lazy)) == 8 << 20


def test_an_idle_connection_owns_no_buffer(loop: Loop) -> None:
    with loop.connect() as client:
        client.sendall(framed(b"hello"))
        assert read_frame(client) == b"hello"
        buffers: list[object] = []
        loop.on_loop(lambda: buffers.extend(c.buffer for c in loop.reactor.connections.values()))
        assert buffers == [None]


def test_an_announced_frame_costs_only_what_arrives(loop: Loop) -> None:
    with loop.connect() as client, loop.connect() as other:
        client.sendall(struct.pack(">i", 100_000_000) + b"x" * 1000)
        other.sendall(framed(b"fine"))
        assert read_frame(other) == b"fine"
        sizes: list[int] = []
        loop.on_loop(lambda: sizes.extend(len(c.buffer or b"") for c in loop.reactor.connections.values()))
        assert max(sizes) <= 1 << 17


def test_a_client_that_leaves_while_parked_is_forgotten(loop: Loop) -> None:
    with loop.connect() as client:
        client.sendall(framed(b"park"))
        with loop.connect() as other:
            other.sendall(framed(b"fine"))
            assert read_frame(other) == b"fine"
    assert_soon(lambda: bool(loop.echo.parked) and loop.echo.parked[0][0] in loop.echo.gone)


class TestLimits:
    @pytest.fixture
    def limits(self) -> Limits:
        limits = Limits()
        limits.max_connections = 3
        limits.max_connections_per_ip = 2
        limits.queued_max_bytes = 100_000
        return limits

    def test_more_connections_from_one_address_are_refused(self, loop: Loop) -> None:
        with loop.connect() as one, loop.connect() as two:
            for client in (one, two):
                client.sendall(framed(b"fine"))
                assert read_frame(client) == b"fine"
            with loop.connect() as three:
                assert is_closed(three)
        assert_soon(lambda: not loop.reactor.connections)
        with loop.connect() as later:
            later.sendall(framed(b"room again"))
            assert read_frame(later) == b"room again"

    def test_connections_above_the_limit_wait_until_one_leaves(self, loop: Loop, limits: Limits) -> None:
        limits.max_connections = 1
        with loop.connect() as first, loop.connect() as waiting:
            first.sendall(framed(b"first"))
            assert read_frame(first) == b"first"
            waiting.sendall(framed(b"second"))
            waiting.settimeout(0.1)
            with pytest.raises(TimeoutError):
                waiting.recv(1)
            first.close()
            waiting.settimeout(PATIENCE_S)
            assert read_frame(waiting) == b"second"

    def test_unfinished_frames_wait_for_memory(self, loop: Loop) -> None:
        with loop.connect() as first, loop.connect() as second:
            first.sendall(struct.pack(">i", 200_000) + b"x" * 70_000)
            assert_soon(lambda: loop.reactor.receiver._queued_bytes > 0)
            second.sendall(struct.pack(">i", 300_000) + b"y" * 300_000)
            second.settimeout(0.2)
            with pytest.raises(TimeoutError):
                second.recv(1)
            second.settimeout(PATIENCE_S)
            first.sendall(b"x" * 130_000)
            assert read_frame(first) == b"x" * 200_000
            assert read_frame(second) == b"y" * 300_000


def test_a_crowd_that_asks_at_the_same_time_is_answered_to_the_last(loop: Loop) -> None:
    clients = [loop.connect() for _ in range(50)]
    for turn in range(3):

        def all_ask(turn: int = turn) -> None:
            for number, client in enumerate(clients):
                client.sendall(framed(b"%d-%d" % (turn, number)))

        loop.on_loop(all_ask)  # all of them have asked when the loop looks again
        for number, client in enumerate(clients):
            assert read_frame(client) == b"%d-%d" % (turn, number)
    for client in clients:
        client.close()
