"""Ports for tests: each is given to one process of this machine, and to it alone for as long as it lives.

A port that is free now is taken a moment later if two test runs, or two workers of one run, choose it before
either has started its broker. So whoever gets a port also locks its number, as one byte of a file that all
runs of this user share: the system drops the lock when the process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from functools import cache
from pathlib import Path

# Below Linux's ephemeral range: a client that reconnects while the broker is down could otherwise be
# given the broker's own port as its source, connect to itself, and keep the broker from binding again.
_FIRST, _LAST = 15_000, 32_000
_TRIES = 1_000
_given: set[int] = set()


class NoFreePortError(Exception):
    """All are taken."""


def free_port(count: int = 1) -> int:
    """A port of 127.0.0.1 that nobody listens on and nobody else is given; the first of `count` in a row."""
    for _ in range(_TRIES):
        first = random.randint(_FIRST, _LAST - count + 1)
        if all(_is_free(port) for port in range(first, first + count)):
            return first
    raise NoFreePortError(f"no {count} free ports in a row between {_FIRST} and {_LAST}")


def _is_free(port: int) -> bool:
    """Free now and, if so, reserved."""
    if port in _given or not _lock(port):
        return False
    _given.add(port)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _lock(port: int) -> bool:
    try:
        fcntl.lockf(_register(os.getpid()), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    return True


@cache
def _register(_process: int) -> int:
    """The open file, once per process: to close it even once would drop every lock the process has."""
    path = Path(tempfile.gettempdir()) / f"barnabas-ports-{os.getuid()}"
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
