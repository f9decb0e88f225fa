"""A supervised process is alive until it has ended, whatever its command line shows."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from barnabas.runtime.supervised import Supervised


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
