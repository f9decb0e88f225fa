"""A cluster whose workers know Barnabas only as an installed wheel."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from tests.support.spark_servers import WORKERS, standalone_spark
from tests.support.wheel import clean_environment

from barnabas import Admin, Producer
from barnabas.testing import BrokerProcess

JOB = Path(__file__).parent / "jobs" / "shout.py"
RECORDS = 500
_TIMEOUT_S = 240


def test_two_workers_without_a_checkout_read_process_and_write_exactly_once(
    wheel_python: Path, java: None, target: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    Admin(target.bootstrap).create_topic(topic, partitions=4)
    Admin(target.bootstrap).create_topic(f"{topic}-loud", partitions=3)
    with Producer(target.bootstrap) as producer:
        for number in range(RECORDS):
            producer.send(topic, f"word-{number}", key=str(number))
    environment = clean_environment(wheel_python)
    job = shutil.copy(JOB, tmp_path)
    with standalone_spark(tmp_path, environment) as master:
        words = [master, target.bootstrap, topic, f"{topic}-loud", str(tmp_path / "checkpoint")]
        done = subprocess.run(
            [str(wheel_python), job, *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    seen = json.loads(done.stdout)
    assert seen["words"] == sorted(f"WORD-{number}" for number in range(RECORDS))
    assert len(seen["executors"]) == WORKERS
    assert {place for _, place in seen["executors"]} == {_installed(wheel_python)}


def _installed(python: Path) -> str:
    (module,) = python.parent.parent.glob("lib/python*/site-packages/barnabas/__init__.py")
    return str(module)
