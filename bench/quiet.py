"""Waiting until the machine is let run: a virtual one is stopped now and then, by what its host does for it.

A stop of a few hundredths of a second is the 99th percentile of whoever is measured meanwhile. What the host
does about an earlier measurement, taking back the memory that it left, is over after some seconds. Some
kernels say how much memory they have told it of.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_QUIET_S = 3  # the host is told of free memory every two seconds
_MOST_S = 30  # then it is noise that will not end, and the figures will say so
_STOP_S = 0.005
_TOLD_KIB = Path("/sys/module/page_reporting/parameters/reported_kib")


def wait_until_quiet() -> None:
    """Until for a while no core has been stopped, and the host was told of no free memory."""
    cores = sorted(os.sched_getaffinity(0))
    with _punctual():
        give_up = time.monotonic() + _MOST_S
        quiet_since, told_before = time.monotonic(), _told_kib()
        while time.monotonic() < min(quiet_since + _QUIET_S, give_up):
            late, told = max(_lateness_s(core) for core in cores), _told_kib()
            if late > _STOP_S or told != told_before:
                quiet_since, told_before = time.monotonic(), told


def _told_kib() -> int:
    """Of free memory, to the host, since the machine began; 0 where the kernel does not say."""
    return int(_TOLD_KIB.read_text()) if _TOLD_KIB.exists() else 0


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
