"""Who may come in: the listening sockets, and how many connections there may be, in all and per address."""

from __future__ import annotations

import errno
import logging
import socket
from collections import Counter
from collections.abc import Callable

from barnabas.runtime.socket_buffers import SocketBuffers

log = logging.getLogger("kafka.network.SocketServer")

_NO_SIZES = SocketBuffers()
_ACCEPTED_MAX = 64  # at once: leave room for others when a crowd arrives


class Limits:
    """The named bounds of the network side; the node updates them when a setting changes."""

    def __init__(self) -> None:
        self.request_max_bytes = 104857600
        self.queued_max_bytes = -1
        self.max_connections = 2147483647
        self.max_connections_per_ip = 2147483647
        self.per_ip_overrides: dict[str, int] = {}
        self.idle_max_ms = 600000


def bind(host: str, port: int, backlog: int, buffers: SocketBuffers = _NO_SIZES) -> socket.socket:
    """A listening socket; clients wait in its backlog until they are accepted."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    buffers.apply(listener)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    listener.listen(backlog)
    listener.setblocking(False)
    return listener


class Listeners:
    def __init__(
        self,
        limits: Limits,
        attach: Callable[[int, Callable[[], None]], None],
        detach: Callable[[int], None],
        welcome: Callable[[socket.socket, str, str], None],
    ) -> None:
        self._limits = limits
        self._attach = attach
        self._detach = detach
        self._welcome = welcome  # the socket, the peer's address, the listener's name
        self._count = 0
        self._per_ip: Counter[str] = Counter()
        self._full: list[tuple[str, socket.socket]] = []  # not accepted from until there is room

    def accept_from(self, name: str, listener: socket.socket) -> None:
        self._attach(listener.fileno(), lambda: self._accept(listener, name))

    def left(self, ip: str) -> None:
        """A connection from there is gone, and another may come."""
        self._count -= 1
        self._per_ip[ip] -= 1
        if not self._per_ip[ip]:
            del self._per_ip[ip]
        if self._full and self._count < self._limits.max_connections:
            waiting, self._full = self._full, []
            for name, listener in waiting:
                self.accept_from(name, listener)

    def _accept(self, listener: socket.socket, name: str) -> None:
        for _ in range(_ACCEPTED_MAX):
            if self._count >= self._limits.max_connections:
                self._wait_for_room(listener, name)
                return
            try:
                accepted, address = listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in {errno.EMFILE, errno.ENFILE}:
                    log.error("Cannot accept connections: out of file descriptors; raise `ulimit -n`")
                return
            self._admit(accepted, str(address[0]), name)

    def _wait_for_room(self, listener: socket.socket, name: str) -> None:
        """As Kafka does: whoever comes above `max.connections` waits in the backlog until somebody leaves."""
        log.info("The broker has its maximum of %d connections.", self._limits.max_connections)
        self._detach(listener.fileno())
        self._full.append((name, listener))

    def _admit(self, accepted: socket.socket, ip: str, name: str) -> None:
        limits = self._limits
        per_ip_max = limits.per_ip_overrides.get(ip, limits.max_connections_per_ip)
        if self._per_ip[ip] >= per_ip_max:
            log.info("Rejected connection from /%s, address already has the configured maximum of %d "
                     "connections.", ip, per_ip_max)  # fmt: skip
            accepted.close()
            return
        self._count += 1
        self._per_ip[ip] += 1
        self._welcome(accepted, ip, name)
