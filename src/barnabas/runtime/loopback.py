"""What a connection inside this machine does without: a sender that spaces out what it sends.

Some systems have BBR as their congestion control, which measures the path and sets a timer before each piece
that it sends, so as not to overrun a router. There is none here, and the timers cost a fourth of what a long
reply costs. Reno, which every Linux has, sends what it is given.
"""

from __future__ import annotations

import socket
from contextlib import suppress

_WITHOUT_TIMERS = b"reno"
_THIS_MACHINE = ("127.", "::ffff:127.")


def send_without_timers(connection: socket.socket, peer: str) -> None:
    if not is_loopback(peer):
        return
    with suppress(OSError):  # not TCP as Linux knows it: then there is nothing to change
        used = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        if used.startswith(b"bbr"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, _WITHOUT_TIMERS)


def is_loopback(peer: str) -> bool:
    """As `accept` writes addresses, never a name; to parse them would cost the start an import."""
    return peer == "::1" or peer.startswith(_THIS_MACHINE)
