"""Waiting for what is promised to happen, without promising when."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from tests.support.client import RefusedError
from tests.support.targets import ON_APACHE

T = TypeVar("T")

PATIENCE_S = 60.0


def eventually(holds: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    """Asks again until it holds; being refused meanwhile counts as "not yet"."""
    deadline = time.monotonic() + patience_s
    while not _holds(holds):
        assert time.monotonic() < deadline, f"still not true after {patience_s:g} s"
        time.sleep(0.02)


def when_markers_are_there(read: Callable[[], list[T]], count: int) -> list[T]:
    """What is read, once it is so much. A commit is answered when it is decided; where another broker leads
    the partition, readers see it when the marker has arrived there, a moment later."""
    eventually(lambda: len(read()) >= count)
    return read()


def at_once(holds: Callable[[], bool]) -> None:
    """True already, now that the change is acknowledged. Apache Kafka's broker acknowledges what its
    controller has written and learns of it a moment later, so there it may take that moment.
    """
    if ON_APACHE:
        eventually(holds)
    else:
        assert holds()


def _holds(holds: Callable[[], bool]) -> bool:
    try:
        return holds()
    except RefusedError:
        return False
