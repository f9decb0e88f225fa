"""Spark Connect: the user's process has no JVM, and the server knows Barnabas only as an installed wheel."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from tests.support.spark_servers import connect_server
from tests.support.wheel import clean_environment

from barnabas import Admin, Producer
from barnabas.testing import BrokerProcess

JOB = Path(__file__).parent / "jobs" / "connected.py"
RECORDS = 300
_TIMEOUT_S = 240


def test_reading_writing_and_streaming_work_over_connect(
    wheel_python: Path, java: None, target: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    admin = Admin(target.bootstrap)
    for name in (topic, f"{topic}-saved", f"{topic}-written", f"{topic}-streamed"):
        admin.create_topic(name, partitions=2)
    with Producer(target.bootstrap) as producer:
        for number in range(RECORDS):
            producer.send(topic, f"word-{number}", key=str(number))
    environment = clean_environment(wheel_python)
    job = shutil.copy(JOB, tmp_path)
    with connect_server(tmp_path, environment) as server:
        done = subprocess.run(
            [str(wheel_python), job, server, target.bootstrap, topic, str(tmp_path)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    words = sorted(f"word-{number}" for number in range(RECORDS))
    loud = sorted(f"WORD-{number}" for number in range(RECORDS))
    assert json.loads(done.stdout) == {"saved": words, "written": words, "streamed": loud}
