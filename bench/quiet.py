"""Waiting until the machine is let run: a virtual one is stopped now and then, by what its host does for it.

A stop of a few hundredths of a second is the 99th percentile of whoever is measured meanwhile. What the host
does about an earlier measurement, taking back the memory that it left, is over after some seconds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_QUIET_S = 2.5  # the host is told of free memory every two seconds
_MOST_S = 30  # then it is noise that will not end, and the figures will say so
_STOP_S = 0.005


def wait_until_quiet() -> None:
    """Until no core has been stopped for a while."""
    cores = sorted(os.sched_getaffinity(0))
    with _punctual():
        give_up = time.monotonic() + _MOST_S
        quiet_since = time.monotonic()
        while time.monotonic() < min(quiet_since + _QUIET_S, give_up):
            if max(_lateness_s(core) for core in cores) > _STOP_S:
                quiet_since = time.monotonic()


def _lateness_s(core: int) -> float:
    os.sched_setaffinity(0, {core})
    due = time.monotonic() + 0.001
    time.sleep(0.001)
    return time.monotonic() - due


@contextmanager
def _punctual() -> Iterator[None]:
    """This thread, where it may, ahead of everybody who has no deadline; it sleeps nearly all the time."""
    cores, policy, priority = os.sched_getaffinity(0), os.sched_getscheduler(0), os.sched_getparam(0)
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
        os.sched_setscheduler(0, policy, priority)
