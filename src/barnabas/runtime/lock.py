"""One broker per log directory: a lock on `.lock`, of the kind that Apache Kafka takes too.

POSIX record locks belong to the process and are lost when it closes *any* descriptor of the file, so the file
is opened here and nowhere else, and stays open until the process ends.
"""

from __future__ import annotations

import fcntl
import os

LOCK_FILE = ".lock"


class DirectoryLockedError(Exception):
    """Another broker uses the directory."""


def lock_directory(path: str) -> int:
    """Take the lock; returns the descriptor that holds it."""
    descriptor = os.open(os.path.join(path, LOCK_FILE), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise DirectoryLockedError(
            f"Failed to acquire lock on file {LOCK_FILE} in {path}. "
            "A Kafka instance in another process or thread is using this directory."
        ) from None
    return descriptor
