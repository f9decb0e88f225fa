"""`python -m bench` runs where Apache Kafka can be had; what it measures is not asserted."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bench.apache_kafka import CHECKOUT


@pytest.mark.java
@pytest.mark.usefixtures("apache_kafka_libraries")
@pytest.mark.skipif(
    shutil.which("gcc") is None, reason="the raw-socket load needs gcc: apt-get install gcc libc6-dev"
)
def test_a_quick_bench_prints_its_table(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "bench",
        "--quick",
        "--only",
        "small-16",
        "--directory",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert "requests/s" in done.stdout
    assert "round 1" in done.stderr
    assert list(tmp_path.iterdir()) == [], "its data is removed"


def test_an_unknown_row_is_refused_with_the_known_ones() -> None:
    command = [sys.executable, "-m", "bench", "--only", "nonsense"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "fetch-16k" in done.stderr
