"""One supervised process: it comes back when it dies, stays away when asked to stop, and is found again."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.runtime.cluster_plan import Running
from barnabas.runtime.supervised import SETTLED_S, STOP_TIMEOUT_S, Supervised, back_off_s, is_process

WAIT_S = 30
SLEEPS = "import time; time.sleep(60)"
DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[list[Supervised]]:
    processes: list[Supervised] = []
    yield processes
    for process in processes:
        if process.pid is not None:
            os.kill(process.pid, signal.SIGKILL)
            await_end(process)
            process.look(0.0)


def make(made: list[Supervised], directory: Path, program: str = SLEEPS) -> Supervised:
    mark = str(directory / "mark")
    process = Supervised("it", [sys.executable, "-c", program, mark], mark, directory / "log")
    made.append(process)
    return process


def await_end(process: Supervised) -> None:
    assert process.end_fd is not None
    ready, _, _ = select.select([process.end_fd], [], [], WAIT_S)
    assert ready


def test_what_dies_is_started_again_when_its_time_has_come(made: list[Supervised], tmp_path: Path) -> None:
    process = make(made, tmp_path)
    process.start_if_due(0.0)
    first = process.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await_end(process)
    process.look(1.0)
    assert process.running == Running(None, 1, -signal.SIGKILL)
    process.start_if_due(1.0)
    assert process.pid is None
    process.start_if_due(1.0 + back_off_s(1))
    assert process.pid not in {None, first}
    assert process.running.start_count == 2


def test_a_long_life_makes_the_next_start_a_quick_one(made: list[Supervised], tmp_path: Path) -> None:
    process = make(made, tmp_path)
    process.start_if_due(0.0)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    await_end(process)
    process.look(SETTLED_S)
    assert process.due_s == SETTLED_S + back_off_s(0)


def test_what_was_asked_to_stop_and_is_wanted_again_starts_at_once(
    made: list[Supervised], tmp_path: Path
) -> None:
    process = make(made, tmp_path)
    process.start_if_due(0.0)
    process.ask_to_stop(1.0)
    await_end(process)
    process.look(2.0)
    assert process.running == Running(None, 1, -signal.SIGTERM)
    process.ask_to_stop(3.0)
    process.start_if_due(3.0)
    assert process.pid is not None


def test_what_does_not_hear_is_killed_in_the_end(made: list[Supervised], tmp_path: Path) -> None:
    process = make(made, tmp_path, DEAF)
    process.start_if_due(0.0)
    while "deaf" not in (tmp_path / "log").read_text():
        assert process.pid is not None
    process.ask_to_stop(1.0)
    process.ask_to_stop(2.0)
    process.look(2.0)
    assert process.pid is not None
    process.ask_to_stop(1.0 + STOP_TIMEOUT_S)
    await_end(process)
    process.look(3.0)
    assert process.running.exit_code == -signal.SIGKILL


def test_a_process_of_an_earlier_supervisor_is_gone_on_with(made: list[Supervised], tmp_path: Path) -> None:
    process = make(made, tmp_path)
    process.start_if_due(0.0)
    assert process.pid is not None
    deadline = time.monotonic() + WAIT_S
    while not is_process(process.pid, str(tmp_path / "mark")):  # on its way into its program
        assert time.monotonic() < deadline
    successor = Supervised("it", [], str(tmp_path / "mark"), tmp_path / "log")
    successor.adopt(process.running)
    assert successor.pid == process.pid
    other = Supervised("other", [], "another mark", tmp_path / "log")
    other.adopt(process.running)
    assert (other.pid, other.running.start_count) == (None, 1)


def test_a_child_on_its_way_into_its_program_is_not_taken_for_dead(tmp_path: Path) -> None:
    process = Supervised("sleeper", ["sleep", "60"], "not in its command line", tmp_path / "log")
    process.start_if_due(0.0)
    pid = process.pid
    assert pid is not None
    try:
        process.look(0.0)
        assert process.pid == pid
    finally:
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while process.pid is not None:
        assert time.monotonic() < deadline
        process.look(1.0)
    assert process.running.exit_code == -signal.SIGKILL
