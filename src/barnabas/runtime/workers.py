"""Threads for calls that block and release the GIL; their results come back to the loop as events.

Never Python work that takes long: a busy Python thread adds milliseconds to every request of the loop.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

Done: TypeAlias = Callable[[object, BaseException | None], None]


class Wakeup:
    """Lets any thread wake the loop: an eventfd that epoll watches."""

    def __init__(self) -> None:
        self.fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def set(self) -> None:
        with contextlib.suppress(OSError):  # already set, or the loop is gone
            os.eventfd_write(self.fd, 1)

    def clear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self.fd)

    def close(self) -> None:
        os.close(self.fd)


class ThreadWorkers:
    def __init__(self, wakeup: Wakeup, count: int) -> None:
        self._wakeup = wakeup
        self._jobs: queue.SimpleQueue[tuple[Callable[[], object], Done] | None] = queue.SimpleQueue()
        self._results: deque[tuple[Done, object, BaseException | None]] = deque()
        self._count = count
        self._threads: list[threading.Thread] = []
        self.pending = 0

    def submit(self, work: Callable[[], object], done: Done) -> None:
        if len(self._threads) < self._count and self.pending >= len(self._threads):
            thread = threading.Thread(target=self._run, name=f"worker-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        self.pending += 1
        self._jobs.put((work, done))

    def deliver(self) -> None:
        """On the loop's thread: hand out what has finished."""
        while self._results:
            done, result, error = self._results.popleft()
            self.pending -= 1
            done(result, error)

    def close(self) -> None:
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            work, done = job
            try:
                result, error = work(), None
            except BaseException as raised:
                result, error = None, raised
            self._results.append((done, result, error))
            self._wakeup.set()
