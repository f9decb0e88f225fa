"""`make chaos`, for half a minute."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.zookeeper import need_java


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_acknowledged_is_lost_whatever_happens() -> None:
    need_java()
    seed = str(random.randrange(1_000_000))
    done = subprocess.run(
        [sys.executable, "-m", "chaos", "--minutes", "0.5", "--seed", seed],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-3_000:]
    assert "every acknowledged record is there, once and in order" in done.stdout
