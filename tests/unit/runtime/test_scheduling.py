"""The loop's short turns: asked for by one thread, not handed on to those that it starts."""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from collections.abc import Callable

import pytest

from barnabas.runtime import scheduling
from barnabas.runtime.scheduling import ask_for_short_turns

_SCHED_GETATTR = {machine: number + 1 for machine, number in scheduling._SCHED_SETATTR.items()}
_SINCE = (6, 12)


def turn_ns() -> int:
    attributes = scheduling._Attributes()
    size = ctypes.sizeof(attributes)
    call = ctypes.CDLL(None, use_errno=True).syscall
    assert call(_SCHED_GETATTR[platform.machine()], 0, ctypes.byref(attributes), size, 0) == 0
    return int(attributes.runtime_ns)


def on_a_thread(ask: Callable[[], None]) -> None:
    """The answer holds for a thread as long as it lives: not for the one that runs the other tests."""
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()


def kernel() -> tuple[int, ...]:
    return tuple(int(word) for word in platform.release().split("-")[0].split(".")[:2])


@pytest.mark.skipif(kernel() < _SINCE, reason="Linux has turns of chosen length since 6.12")
def test_the_loop_has_short_turns_and_those_it_starts_have_ordinary_ones() -> None:
    ordinary_ns = turn_ns()
    seen: list[object] = []

    def ask() -> None:
        seen.extend((ask_for_short_turns(), turn_ns()))
        on_a_thread(lambda: seen.append(turn_ns()))

    on_a_thread(ask)
    assert seen == [True, 100_000, ordinary_ns]


def test_on_an_unknown_machine_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "s390x")
    assert not ask_for_short_turns()


def test_whoever_was_given_another_class_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getscheduler", lambda _pid: os.SCHED_FIFO)
    assert not ask_for_short_turns()
