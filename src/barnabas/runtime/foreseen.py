"""Look for the one request whose reply is ready, and send that when it comes.

The client goes to sleep when it has asked, and every microsecond until our reply is one that both of us wait.
So this is in C where that was built, in Python otherwise, with the same results; `BARNABAS_NATIVE=off` asks
for Python.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket

NOT_ASKED = -1
_CORRELATION_SIZE = 4
_REQUEST_MAX = 4096


def reply_when_asked_in_python(
    epoll: select.epoll,
    peer: socket.socket,
    looks: int,
    before: bytes,
    after: bytes,
    reply: memoryview,
    /,
) -> int:
    """How much of the reply the socket took, or NOT_ASKED: nothing came within so many looks, or something
    else did, which is left where it is.

    The request is `before`, a correlation id and `after`; the id becomes the second four bytes of the reply.
    """
    events: list[tuple[int, int]] = []
    for _ in range(looks):
        events = epoll.poll(0, 2)
        if events:
            break
    if events != [(peer.fileno(), select.EPOLLIN)]:
        return NOT_ASKED
    size = len(before) + _CORRELATION_SIZE + len(after)
    if size > _REQUEST_MAX or len(reply) < 2 * _CORRELATION_SIZE:
        return NOT_ASKED
    try:
        request = peer.recv(size + 1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except OSError:
        return NOT_ASKED
    behind = len(before) + _CORRELATION_SIZE
    if len(request) != size or request[: len(before)] != before or request[behind:] != after:
        return NOT_ASKED
    reply[4:8] = request[len(before) : behind]
    sent = 0
    with contextlib.suppress(OSError):  # full, or gone: whoever sends the rest finds out
        sent = peer.send(reply, socket.MSG_DONTWAIT)
    with contextlib.suppress(OSError):
        peer.recv(size, socket.MSG_DONTWAIT)
    return sent


try:
    if os.environ.get("BARNABAS_NATIVE") == "off":
        raise ImportError("not wanted")
    from barnabas.runtime._native import reply_when_asked
except ImportError:  # built without a compiler
    reply_when_asked = reply_when_asked_in_python

__all__ = ["NOT_ASKED", "reply_when_asked", "reply_when_asked_in_python"]
