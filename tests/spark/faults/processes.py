"""The pipeline's processes: found below the one that was started, never by name alone, and killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from tests.spark.faults.pipeline import GO, REACHED, REPEATED, REPORT, STOP, Plan
from tests.support.waiting import eventually

PIPELINE = Path(__file__).with_name("pipeline.py")
CHECKOUT = Path(__file__).parents[3]
PATIENCE_S = 300.0
_PLANNER = "python_streaming_source_runner"
_OURS = "BARNABAS_FAULTS_FOLDER"  # all processes of a pipeline have it in their environment


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(CHECKOUT / "src"), str(CHECKOUT)])}


def children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for one in tasks for child in (one / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def descendants(pid: int) -> Iterator[int]:
    for child in children(pid):
        yield child
        yield from descendants(child)


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Pipeline:
    """One run of the pipeline. Leaving the block kills whatever is left of it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.folder = Path(plan.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / "pipeline.log"
        self._seen: set[int] = set()

    def __enter__(self) -> Pipeline:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(PIPELINE), json.dumps(asdict(self.plan))],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**environment(), _OURS: self.plan.folder},
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        if value is not None:
            value.add_note(f"{self.log}:\n{self.tail()}")

    def java(self) -> int:
        """The JVM: what the script that Python starts turns into."""
        (found,) = (pid for pid in children(self._process.pid) if "java" in command_of(pid))
        return found

    def planner(self) -> int:
        """The Python process in which the source plans its batches."""
        (found,) = self._called(_PLANNER)
        return found

    def daemons(self) -> list[int]:
        """What forks the tasks' Python workers, and would take them along."""
        java = self.java()
        return [pid for pid in children(java) if "pyspark.daemon" in command_of(pid)]

    def _called(self, word: str) -> list[int]:
        return [pid for pid in descendants(self._process.pid) if word in command_of(pid)]

    def wait_until_reached(self) -> int:
        """The process that has come to the fault."""
        self._wait_for(REACHED)
        return int((self.folder / REACHED).read_text())

    def wait_until_repeated(self) -> None:
        """Spark has started a task a second time."""
        self._wait_for(REPEATED)

    def wait_for_report(self) -> dict[str, object]:
        eventually((self.folder / REPORT).exists, PATIENCE_S)
        report: dict[str, object] = json.loads((self.folder / REPORT).read_text())
        return report

    def _wait_for(self, name: str) -> None:
        eventually(lambda: (self.folder / name).exists() or self._process.poll() is not None, PATIENCE_S)
        assert (self.folder / name).exists(), f"the pipeline ended before {name}:\n{self.tail()}"

    def go(self) -> None:
        (self.folder / GO).touch()

    def stop(self) -> None:
        (self.folder / STOP).touch()

    def is_running(self) -> bool:
        return self._process.poll() is None

    def finish(self) -> int:
        """Its exit code."""
        return self._process.wait(PATIENCE_S)

    def kill_java(self) -> None:
        """And nobody else: the user's Python process finds out by itself."""
        self._seen.update(descendants(self._process.pid))
        kill(self.java())

    def leave_alone(self, survivor: int) -> None:
        """Kill all but one worker, which nobody is left to kill."""
        self._seen.update(descendants(self._process.pid))
        for pid in (*self.daemons(), self.java(), self._process.pid):
            kill(pid)
        self._process.wait()
        assert command_of(survivor), "the worker that was to go on is gone"

    def kill(self) -> None:
        self._seen.update(descendants(self._process.pid))
        kill(self._process.pid)
        self._process.wait()
        for pid in self._seen:
            if f"{_OURS}={self.plan.folder}\0" in _environment(pid):
                kill(pid)

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-3_000:]


def _environment(pid: int) -> str:
    """Numbers of processes are used again: is it still one of ours?"""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return ""
