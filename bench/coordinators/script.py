"""Many connections in one thread, each driven by a script.

A script is a generator over one connection: it yields a framed request and is sent the frame of the answer,
or yields a `Pause`. Fifty members of a group are fifty scripts in one process, so that neither fifty
interpreters nor a client library stands between the clock and the broker.
"""

from __future__ import annotations

import heapq
import itertools
import selectors
import socket
import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeAlias

RECEIVE_BYTES = 262_144
TIMEOUT_S = 60.0
SELECT_S = 0.05  # how often a condition is looked at when nothing happens


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


Step: TypeAlias = bytes | bytearray | Pause
Script: TypeAlias = Generator[Step, Any, None]


class Task:
    """One connection and the script that drives it; at most one request is in flight."""

    def __init__(self, stage: Stage, connection: socket.socket, script: Script) -> None:
        self._stage = stage
        self._connection = connection
        self._script = script
        self._received = bytearray()
        self._pause = 0  # odd while pausing; the timer of a pause that was cut short means nothing
        self._is_awake = False
        self.is_finished = False

    def start(self) -> None:
        self._resume(None)

    def wake(self) -> None:
        """Cut the pause short; a script that awaits an answer skips its next pause."""
        if self._pause % 2:
            self.end_pause(self._pause)
        else:
            self._is_awake = True

    def end_pause(self, number: int) -> None:
        if number == self._pause:
            self._pause += 1
            self._resume(None)

    def receive(self) -> None:
        data = self._receive()
        if not data:
            raise RuntimeError("the broker closed the connection")
        self._received += data
        received = self._received
        if len(received) >= 4 and len(received) == 4 + int.from_bytes(received[:4], "big"):
            self._received = bytearray()
            self._resume(received[4:])

    def _receive(self) -> bytes:
        try:
            return self._connection.recv(RECEIVE_BYTES)
        except ConnectionError:
            return b""

    def _resume(self, value: object) -> None:
        try:
            step = self._script.send(value)
        except StopIteration:
            self.is_finished = True
            self._stage.forget(self._connection)
            return
        if isinstance(step, Pause):
            self._pause += 1
            self._stage.call_later(0.0 if self._is_awake else step.seconds, self, self._pause)
            self._is_awake = False
        else:
            self._connection.sendall(step)


class Stage:
    """Runs scripts against one broker until a condition holds."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._selector = selectors.DefaultSelector()
        self._timers: list[tuple[float, int, Task, int]] = []
        self._order = itertools.count()

    def add(self, script: Script) -> Task:
        """Connected, but not started: what a connection costs is nobody's figure here."""
        connection = socket.create_connection(("127.0.0.1", self._port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = Task(self, connection, script)
        self._selector.register(connection, selectors.EVENT_READ, task)
        return task

    def start_all(self, scripts: Iterable[Script]) -> list[Task]:
        tasks = [self.add(script) for script in scripts]
        for task in tasks:
            task.start()
        return tasks

    def call_later(self, seconds: float, task: Task, pause: int) -> None:
        heapq.heappush(self._timers, (time.perf_counter() + seconds, next(self._order), task, pause))

    def forget(self, connection: Any) -> None:
        self._selector.unregister(connection)
        connection.close()

    def run_until(self, holds: Callable[[], bool], what: str, timeout_s: float = TIMEOUT_S) -> float:
        """The moment at which the condition held, on the clock of `time.perf_counter`."""
        deadline = time.perf_counter() + timeout_s
        while not holds():
            now = time.perf_counter()
            if now > deadline:
                raise RuntimeError(f"{what} did not happen within {timeout_s:g} s")
            for key, _ in self._selector.select(self._wait_s(now)):
                key.data.receive()
            self._end_due_pauses()
        return time.perf_counter()

    def run_for(self, seconds: float) -> float:
        """How long it really was."""
        started_at = time.perf_counter()
        until = started_at + seconds
        holds_at = self.run_until(lambda: time.perf_counter() >= until, "the end", seconds + TIMEOUT_S)
        return holds_at - started_at

    def _wait_s(self, now: float) -> float:
        return min(SELECT_S, max(0.0, self._timers[0][0] - now)) if self._timers else SELECT_S

    def _end_due_pauses(self) -> None:
        now = time.perf_counter()
        while self._timers and self._timers[0][0] <= now:
            _, _, task, pause = heapq.heappop(self._timers)
            task.end_pause(pause)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for key in list(self._selector.get_map().values()):
            self.forget(key.fileobj)
        self._selector.close()
