"""Lines over real sockets, to peers that behave and to peers that do not."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator

import pytest
from tests.support.stepped_loop import NeverCold
from tests.support.waiting import eventually
from tests.unit.runtime.test_reactor import Echo

from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.ports import Line
from barnabas.runtime import lines
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.lines import Lines
from barnabas.runtime.listeners import Limits
from barnabas.runtime.reactor import Reactor
from barnabas.runtime.workers import ThreadWorkers, Wakeup
from barnabas.testing import free_port


class Heard:
    """`ports.Caller` that remembers."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.ends = 0
        self.then: Callable[[], None] = lambda: None

    def received(self, frame: bytearray) -> None:
        self.frames.append(bytes(frame))
        self.then()

    def disconnected(self) -> None:
        self.ends += 1


class Caller:
    """A loop of its own, on a thread, from which lines are opened."""

    def __init__(self) -> None:
        self._wakeup = Wakeup()
        self.workers = ThreadWorkers(self._wakeup, 2)
        self.reactor = Reactor(Echo(), SystemClock(), Limits(), NeverCold())
        self.lines = Lines(self.workers)
        self.lines.attach_to(self.reactor)
        self._calls: list[Callable[[], None]] = []
        self._stopped = False
        self.reactor.attach(self._wakeup.fd, self._woken)
        self._thread = threading.Thread(target=self.reactor.run, args=(lambda: self._stopped,))
        self._thread.start()

    def _woken(self) -> None:
        self._wakeup.clear()
        self.workers.deliver()
        while self._calls:
            self._calls.pop(0)()

    def run(self, action: Callable[[], None]) -> None:
        done = threading.Event()
        self._calls += [action, done.set]
        self._wakeup.set()
        assert done.wait(60)

    def connect(self, port: int, host: str = "127.0.0.1") -> tuple[Line, Heard]:
        heard = Heard()
        opened: list[Line] = []
        endpoint = Endpoint(host, port, SecurityProtocol.PLAINTEXT)
        self.run(lambda: opened.append(self.lines.connect(endpoint, heard)))
        return opened[0], heard

    def close(self) -> None:
        self.run(lambda: setattr(self, "_stopped", True))
        self._thread.join()
        self.workers.close()
        self.reactor.close()
        self._wakeup.close()


@pytest.fixture
def caller() -> Iterator[Caller]:
    made = Caller()
    yield made
    made.close()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as opened:
        opened.settimeout(60)
        yield opened


def accepted(listener: socket.socket) -> socket.socket:
    peer, _ = listener.accept()
    peer.settimeout(60)
    return peer


def port_of(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def framed(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def receive(peer: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = peer.recv(count - len(data))
        assert piece
        data += piece
    return data


def test_a_question_waits_for_the_line_and_is_answered(caller: Caller, listener: socket.socket) -> None:
    line, heard = caller.connect(port_of(listener))
    caller.run(lambda: line.send(framed(b"question")))
    with accepted(listener) as peer:
        assert receive(peer, 12) == framed(b"question")
        peer.sendall(framed(b"answer"))
        eventually(lambda: heard.frames == [b"answer"])


def test_answers_come_whole_however_they_are_cut(caller: Caller, listener: socket.socket) -> None:
    _, heard = caller.connect(port_of(listener))
    answers = [b"", b"a", b"bc" * 40_000, b"d"]
    with accepted(listener) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = b"".join(map(framed, answers))
        for at in [*range(20), *range(20, len(data), 7_001)]:
            peer.sendall(data[at : at + 1] if at < 20 else data[at : at + 7_001])
        eventually(lambda: heard.frames == answers)


def test_an_answer_larger_than_the_first_buffer_arrives(
    caller: Caller, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "_FIRST_BYTES_MAX", 1000)
    _, heard = caller.connect(port_of(listener))
    answer = bytes(range(256)) * 20_000
    with accepted(listener) as peer:
        peer.sendall(framed(answer) + framed(b"next"))
        eventually(lambda: heard.frames == [answer, b"next"])


def test_a_question_larger_than_the_socket_takes_leaves_whole(
    caller: Caller, listener: socket.socket
) -> None:
    line, heard = caller.connect(port_of(listener))
    question = framed(b"q" * 12_000_000)
    with accepted(listener) as peer:
        caller.run(lambda: line.send(question))
        caller.run(lambda: line.send(framed(b"another")))
        assert receive(peer, len(question) + 11) == question + framed(b"another")
        peer.sendall(framed(b"done"))
        eventually(lambda: heard.frames == [b"done"])


def test_a_refusal_is_told_once(caller: Caller) -> None:
    line, heard = caller.connect(free_port())
    eventually(lambda: heard.ends == 1)
    assert line.was_refused
    caller.run(lambda: line.send(framed(b"too late")))
    caller.run(line.close)
    assert heard.ends == 1


def test_a_name_that_nobody_knows_ends_the_line(caller: Caller) -> None:
    line, heard = caller.connect(9, "no-such-host.invalid")
    eventually(lambda: heard.ends == 1)
    assert not line.was_refused, "no machine said so"
    _, heard = caller.connect(9, "." * 300)
    eventually(lambda: heard.ends == 1)


def test_the_next_address_is_tried_when_the_first_refuses(
    caller: Caller, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = ("127.0.0.1", free_port())
    both = [(socket.AF_INET, refusing), (socket.AF_INET, listener.getsockname())]
    monkeypatch.setattr(lines, "_look_up", lambda _endpoint: list(both))
    line, heard = caller.connect(1)
    caller.run(lambda: line.send(framed(b"hello")))
    with accepted(listener) as peer:
        assert receive(peer, 9) == framed(b"hello")
    eventually(lambda: heard.ends == 1)
    assert not line.was_refused, "the second address answered"


def test_a_peer_that_closes_or_resets_ends_the_line(caller: Caller, listener: socket.socket) -> None:
    _, closed = caller.connect(port_of(listener))
    accepted(listener).close()
    eventually(lambda: closed.ends == 1)
    line, reset = caller.connect(port_of(listener))
    peer = accepted(listener)
    caller.run(lambda: line.send(framed(b"unread")))
    peer.sendall(framed(b"half an answer")[:-4])
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    eventually(lambda: reset.ends == 1)
    assert reset.frames == []


@pytest.mark.parametrize("length", [-1, -(2**31), (1 << 30) + 1, 2**31 - 1])
def test_a_length_that_cannot_be_ends_the_line(caller: Caller, listener: socket.socket, length: int) -> None:
    _, heard = caller.connect(port_of(listener))
    with accepted(listener) as peer:
        peer.sendall(framed(b"fine") + struct.pack(">i", length) + b"garbage")
        eventually(lambda: heard.ends == 1)
        assert heard.frames == [b"fine"]


def test_a_line_that_is_closed_says_nothing_more(caller: Caller, listener: socket.socket) -> None:
    line, heard = caller.connect(port_of(listener))
    heard.then = line.close
    with accepted(listener) as peer:
        with contextlib.suppress(ConnectionError):
            peer.sendall(framed(b"one") + framed(b"two"))
        eventually(lambda: len(heard.frames) > 0)
        with contextlib.suppress(ConnectionError):
            assert peer.recv(1) == b""
    caller.run(lambda: None)
    assert heard.frames == [b"one"]
    assert heard.ends == 0


def test_a_line_closed_before_it_stands_is_never_heard_of(caller: Caller, listener: socket.socket) -> None:
    heard = Heard()
    endpoint = Endpoint("127.0.0.1", port_of(listener), SecurityProtocol.PLAINTEXT)
    caller.run(lambda: caller.lines.connect(endpoint, heard).close())
    eventually(lambda: caller.workers.pending == 0)
    caller.run(lambda: None)
    assert heard.ends == 0
    listener.settimeout(0)
    with pytest.raises(BlockingIOError):
        listener.accept()
