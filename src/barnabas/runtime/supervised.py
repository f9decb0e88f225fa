"""One supervised process: started, watched through a descriptor that tells its end, started again later and
later while it keeps dying, stopped politely and then not."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from barnabas.runtime.cluster_plan import Running

log = logging.getLogger("barnabas.supervisor")

BACK_OFF_FIRST_S = 0.25
BACK_OFF_MAX_S = 30.0
SETTLED_S = 10.0  # whoever lived so long did not die of its start
STOP_TIMEOUT_S = 60.0


def back_off_s(early_deaths: int) -> float:
    """How long to wait before the next start, after so many lives in a row that were short."""
    # The exponent is bounded too: a number of thousands of bits helps nobody.
    return float(min(BACK_OFF_MAX_S, BACK_OFF_FIRST_S * 2 ** min(early_deaths, 16)))


class Supervised:
    def __init__(self, name: str, command: Sequence[str], mark: str, log_file: Path) -> None:
        self.name = name
        self._command = command
        self._mark = mark  # a word of its command line that no other process has
        self._log_file = log_file
        self._child: subprocess.Popen[bytes] | None = None
        self.pid: int | None = None
        self.end_fd: int | None = None  # readable when the process has ended
        self._start_count = 0
        self._exit_code: int | None = None
        self._early_deaths = 0
        self._started_s = 0.0
        self.due_s = 0.0
        self._kill_at_s: float | None = None

    @property
    def running(self) -> Running:
        return Running(self.pid, self._start_count, self._exit_code)

    # --- up ---

    def adopt(self, known: Running) -> None:
        """Go on with the process that an earlier supervisor started, if it is still that one."""
        self._start_count = known.start_count
        if known.pid is not None and is_process(known.pid, self._mark):
            log.info("%s goes on as process %d", self.name, known.pid)
            self._watch(known.pid)

    def start_if_due(self, now_s: float) -> None:
        if self.pid is not None or now_s < self.due_s:
            return
        with self._log_file.open("ab") as output:
            self._child = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._log_file.parent,
            )
        self._started_s = now_s
        self._start_count += 1
        self._watch(self._child.pid)
        log.info("%s started as process %d", self.name, self._child.pid)

    def _watch(self, pid: int) -> None:
        self.pid = pid
        self.end_fd = os.pidfd_open(pid)
        self._kill_at_s = None

    # --- down ---

    def ask_to_stop(self, now_s: float) -> None:
        """SIGTERM once; SIGKILL when it did not obey in time."""
        if self.pid is None:
            self._early_deaths, self.due_s = 0, now_s  # wanted again, it starts at once
        elif self._kill_at_s is None:
            log.info("%s is asked to stop", self.name)
            self._kill_at_s = now_s + STOP_TIMEOUT_S
            self._signal(signal.SIGTERM)
            self._signal(signal.SIGCONT)  # one that is paused would not hear of it
        elif now_s >= self._kill_at_s:
            log.warning("%s did not stop within %d s and is killed", self.name, STOP_TIMEOUT_S)
            self._kill_at_s = now_s + STOP_TIMEOUT_S
            self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        assert self.end_fd is not None
        try:
            signal.pidfd_send_signal(self.end_fd, number)
        except ProcessLookupError:
            log.info("%s has just ended", self.name)

    def look(self, now_s: float) -> None:
        """Notice its end."""
        if self.pid is None or self._lives(self.pid):
            return
        assert self.end_fd is not None
        self._exit_code = self._child.wait() if self._child is not None else None
        os.close(self.end_fd)
        was_asked, self._kill_at_s = self._kill_at_s is not None, None
        pid, self.pid, self.end_fd, self._child = self.pid, None, None, None
        if was_asked:
            log.info("%s, process %d, has stopped", self.name, pid)
            return
        self._early_deaths = self._early_deaths + 1 if now_s - self._started_s < SETTLED_S else 0
        self.due_s = now_s + back_off_s(self._early_deaths)
        log.warning(
            "%s, process %d, died (%s); it starts again in %.2f s",
            self.name, pid, self._exit_code, self.due_s - now_s,
        )  # fmt: skip

    def _lives(self, pid: int) -> bool:
        """A child of ours is asked about directly: on its way into its program it has no command line, and
        whoever took it for dead then would wait for its end."""
        return is_process(pid, self._mark) if self._child is None else self._child.poll() is None


def is_process(pid: int, mark: str) -> bool:
    """Whether this process lives and is the one it was: numbers are given anew, and the dead wait for their
    parent without a command line."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return mark.encode() in words
