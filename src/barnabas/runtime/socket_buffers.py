"""The kernel's buffers of a connection, where somebody asks for a size.

Linux grows a buffer as the connection needs it, until a size is set: then it stays. Kafka sets its defaults
(100 KiB, 64 KiB for followers) on every connection. Here they are the system's business unless the properties
file names a size, as for `socket.listen.backlog.size`.
"""

from __future__ import annotations

import socket
from typing import NamedTuple

from barnabas.model.settings.broker import BrokerSettings

LEFT_TO_THE_SYSTEM = -1


class SocketBuffers(NamedTuple):
    receive_bytes: int = LEFT_TO_THE_SYSTEM
    send_bytes: int = LEFT_TO_THE_SYSTEM

    def apply(self, to: socket.socket) -> None:
        """Before it connects or listens: the window's scale is agreed at the start. What is accepted
        has the buffers of its listener."""
        for option, size in ((socket.SO_RCVBUF, self.receive_bytes), (socket.SO_SNDBUF, self.send_bytes)):
            if size > 0:
                to.setsockopt(socket.SOL_SOCKET, option, size)


def of_clients(settings: BrokerSettings) -> SocketBuffers:
    return SocketBuffers(
        _asked(settings, "socket.receive.buffer.bytes"), _asked(settings, "socket.send.buffer.bytes")
    )


def of_replicas(settings: BrokerSettings) -> SocketBuffers:
    return SocketBuffers(_asked(settings, "replica.socket.receive.buffer.bytes"))


def _asked(settings: BrokerSettings, name: str) -> int:
    return settings.integer(name) if name in settings.static else LEFT_TO_THE_SYSTEM
