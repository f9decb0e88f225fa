"""The clients' suites, on three brokers instead of one: a selection here, everything with `make clients`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.zookeeper import need_java

ROOT = Path(__file__).parents[2]
SUITES = ("topics", "records", "groups", "group_offsets", "transactions", "wire_transactions", "delivery")
# One library of four, and nothing that is about amounts.
LEFT_OUT = ("java", "aiokafka", "kafka-python", "many_thousand", "every_codec")


@pytest.mark.timeout(600)
def test_a_real_client_passes_its_suites_on_three_brokers() -> None:
    need_java()
    files = [f"tests/clients/test_{name}.py" for name in SUITES]
    chosen = " and ".join(f"not {word}" for word in LEFT_OUT)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "--tb=short", *files, "-k", chosen],
        cwd=ROOT,
        env=os.environ | {"BARNABAS_TEST_TARGET": "cluster"},
        capture_output=True,
        text=True,
        timeout=560,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8_000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None, done.stdout[-2_000:]
    assert int(passed[1]) > 70
