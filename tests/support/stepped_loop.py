"""A loop that goes round when it is told to."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from typing import Any, cast

from barnabas.ports import FileSlice
from barnabas.runtime.attempts import Attempts
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.listeners import Limits, bind
from barnabas.runtime.reactor import Reactor
from barnabas.runtime.receiving import Application

PATIENCE_S = 60


class NeverCold:
    def is_cold(self, part: FileSlice) -> bool:
        return False

    def warm(self, part: FileSlice, done: Callable[[], None]) -> None:
        raise AssertionError("nothing is cold")


class Meanwhile:
    """epoll, but what is to happen while the loop looks happens at its second look."""

    def __init__(self, real: select.epoll) -> None:
        self._real = real
        self.looks = 0
        self.act: Callable[[], None] = lambda: None

    def poll(self, timeout: float, events_max: int) -> list[tuple[int, int]]:
        self._look()
        return self._real.poll(0, events_max)

    def fileno(self) -> int:
        """Somebody else is going to look."""
        self._look()
        return self._real.fileno()

    def _look(self) -> None:
        self.looks += 1
        if self.looks == 2:
            self.act()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class SteppedLoop:
    """Always makes ready what it can."""

    def __init__(self, application: Application) -> None:
        self.reactor = Reactor(application, SystemClock(), Limits(), NeverCold())
        self._meanwhile = Meanwhile(self.reactor.epoll)
        self.reactor.epoll = cast(select.epoll, self._meanwhile)
        self._listener = bind("127.0.0.1", 0, 5)
        self.reactor.accept_from("PLAINTEXT", self._listener)
        self._clients: list[socket.socket] = []

    def connect(self) -> socket.socket:
        client = socket.create_connection(self._listener.getsockname(), PATIENCE_S)
        self._clients.append(client)
        await_bytes_at(self._listener)
        self.go_round()
        return client

    def go_round(self, act: Callable[[], None] = lambda: None) -> None:
        """Once, with something that happens while it looks."""
        self.reactor.looks = Attempts()  # one of them is always due
        self._meanwhile.looks = 0
        self._meanwhile.act = act
        stops = iter((False, True))
        self.reactor.run(lambda: next(stops))

    def say(self, client: socket.socket, data: bytes) -> None:
        """And wait until it has arrived: the loop does not."""
        client.sendall(data)
        name = client.getsockname()
        (connection,) = (c for c in self.reactor.connections.values() if c.socket.getpeername() == name)
        await_bytes_at(connection.socket)

    def close(self) -> None:
        self.reactor.close()
        for closed in (self._listener, *self._clients):
            closed.close()


def await_bytes_at(end: socket.socket) -> None:
    assert select.select([end], [], [], PATIENCE_S)[0]
