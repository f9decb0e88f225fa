"""The loop's place among those who want the CPU, asked of the kernel: short turns instead of long ones.

Everybody's requests wait while the loop waits for a core, and a reader of old data, or its client on the same
machine, keeps a core busy. Linux 6.12 and newer let a thread ask for shorter turns than usual: it gets no
more of the CPU, but gets it sooner when it wakes up. It needs no privilege. Older kernels take no notice.
"""

from __future__ import annotations

import ctypes
import os
import platform

_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274, "riscv64": 274}
_RESET_ON_FORK = 1
_TURN_NS = 100_000  # the shortest there is


class _Attributes(ctypes.Structure):
    """struct sched_attr, as long as its first version was."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime_ns", ctypes.c_uint64),
        ("deadline_ns", ctypes.c_uint64),
        ("period_ns", ctypes.c_uint64),
    )


def ask_for_short_turns() -> bool:
    """For the calling thread. Threads and processes that it starts have ordinary turns: what they do is long.
    False where the kernel refuses, or where somebody has put us into a class without turns."""
    number = _SCHED_SETATTR.get(platform.machine())
    if number is None or os.sched_getscheduler(0) != os.SCHED_OTHER:
        return False
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    flags = _RESET_ON_FORK if nice >= 0 else 0  # it would also take away a better place that others gave us
    attributes = _Attributes(ctypes.sizeof(_Attributes), os.SCHED_OTHER, flags, nice, 0, _TURN_NS, 0, 0)
    call = ctypes.CDLL(None, use_errno=True).syscall
    return bool(call(number, 0, ctypes.byref(attributes), 0) == 0)
