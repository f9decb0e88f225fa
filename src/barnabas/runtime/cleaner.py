"""Compaction beside the loop: a child process that is asked with a line and answers with lines.

The work is Python and long, and a busy Python thread would add milliseconds to every request of the loop, so
it runs in another process, at low priority. Its interface is files: it writes `.cleaned` segments, the loop
swaps them in. The parent's side fits an epoll loop: register `fileno()`, call `read_results()` when readable.

A child that dies takes its job with it, and the next `submit` starts another. A child whose parent dies stops
at the next chunk: a new broker may already be working in the same directory.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import BinaryIO

from barnabas.log.cleaning.job import (
    CleaningJob,
    JobDone,
    JobFailed,
    Outcome,
    outcome_from_line,
    outcome_to_line,
)
from barnabas.log.cleaning.rewrite import run
from barnabas.runtime.files import RealFilesystem

# SCHED_IDLE gave a worse produce p99 in four rounds of the bench; why was not found out.
_NICENESS = 10
_PIPE_BYTES = 1 << 20
_READ_BYTES = 1 << 16
_STOP_TIMEOUT_S = 5
_NAP_S_MAX = 0.5


class CleanerProcess:
    """One child, one job at a time."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._job: CleaningJob | None = None
        self._unread = b""

    @property
    def busy(self) -> bool:
        return self._job is not None

    def start(self) -> None:
        """Idempotent; `fileno` changes when a dead child is replaced."""
        if self._child is not None:
            return
        self._child = subprocess.Popen(
            [sys.executable, "-m", "barnabas.runtime.cleaner", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # the terminal's Ctrl-C is for the broker, which then stops its child
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        os.set_blocking(self._child.stdout.fileno(), False)
        # A job is a line of some hundred kilobytes at most: with this much room writing it never waits.
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._child.stdin.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def fileno(self) -> int:
        """Readable when there are results. -1 while there is no child."""
        if self._child is None or self._child.stdout is None:
            return -1
        return self._child.stdout.fileno()

    def submit(self, job: CleaningJob) -> None:
        assert self._job is None, "one job at a time"
        self.start()
        assert self._child is not None
        assert self._child.stdin is not None
        self._job = job
        with contextlib.suppress(BrokenPipeError):  # it died: `read_results` will say so
            _write_all(self._child.stdin.fileno(), job.to_line())

    def read_results(self) -> list[Outcome]:
        """What has come since the last call, without waiting. Ends with JobDone or JobFailed."""
        if self._child is None:
            return []
        ended = self._drain()
        *lines, self._unread = self._unread.split(b"\n")
        outcomes = [outcome_from_line(line) for line in lines]
        if any(isinstance(one, JobDone | JobFailed) for one in outcomes):
            self._job = None
        if ended:
            outcomes += self._bury()
        return outcomes

    def _drain(self) -> bool:
        """True if the child has closed its end."""
        file = self.fileno()
        while True:
            try:
                data = os.read(file, _READ_BYTES)
            except BlockingIOError:
                return False
            if not data:
                return True
            self._unread += data

    def _bury(self) -> list[Outcome]:
        job, self._job = self._job, None
        code = self._reap()
        if job is None:
            return []
        # Most likely it would happen again: the partition is left alone until the broker restarts.
        return [JobFailed(job.job_id, f"The cleaner process ended with {code}", uncleanable=True)]

    def abort(self) -> None:
        """Give up the job at once: nothing of it will be reported. The caller discards `.cleaned` files."""
        if self._child is not None:
            self._child.kill()
            self._reap()
        self._job = None

    def close(self) -> None:
        """Stop after at most one chunk of work."""
        self.abort()

    def _reap(self) -> int:
        child, self._child = self._child, None
        self._unread = b""
        assert child is not None
        assert child.stdin is not None
        assert child.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            child.stdin.close()
        child.stdout.close()
        return child.wait(_STOP_TIMEOUT_S)


class _Orphaned(Exception):  # noqa: N818 - a reason to stop, not a failure
    pass


def _pace(bytes_per_second_max: float, parent: int) -> Callable[[int], None]:
    """Sleep as long as the rate asks for, and stop when the parent is gone."""
    started = time.monotonic()
    total = 0

    def progress(byte_count: int) -> None:
        nonlocal total
        if os.getppid() != parent:
            raise _Orphaned
        total += byte_count
        while (ahead_s := total / bytes_per_second_max - (time.monotonic() - started)) > 0:
            time.sleep(min(ahead_s, _NAP_S_MAX))
            if os.getppid() != parent:
                raise _Orphaned

    return progress


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def serve(requests: BinaryIO, results: BinaryIO, parent: int) -> None:
    """One job per line, until the other side closes."""
    filesystem = RealFilesystem()
    for line in requests:
        job = CleaningJob.from_line(line)
        for outcome in run(filesystem, job, _pace(job.bytes_per_second_max, parent)):
            results.write(outcome_to_line(outcome))
            results.flush()


def main() -> None:
    # Told, not asked: the broker may have died while this process was starting.
    parent = int(sys.argv[1])
    os.nice(_NICENESS)
    with contextlib.suppress(_Orphaned, BrokenPipeError, KeyboardInterrupt):
        serve(sys.stdin.buffer, sys.stdout.buffer, parent)


if __name__ == "__main__":
    main()
