"""One broker, the topics filled, and Spark in a process of its own that measures both connectors."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from bench import report
from bench.apache_kafka import CHECKOUT, UnavailableError
from bench.report import Rivals, Sample
from bench.scale import QUICK, Scale
from bench.spark.environment import SPARK_VERSION, connector_jars, environment, python
from bench.spark.loads import TICK_TOPIC, WRITE_TOPIC
from bench.spark.rows import CONNECTOR, ROWS, SparkRow
from bench.spark.topics import fill
from bench.spark.worker import SAMPLE
from bench.subject import BARNABAS, Subject

console = Console(stderr=True)
RIVALS = Rivals(
    CONNECTOR, SPARK_VERSION, kind="local, two cores, a Barnabas broker beside it", table="spark.md"
)
WRITE_PARTITIONS = 4


def measure(rows: Sequence[SparkRow], scale: Scale, rounds: int, directory: Path) -> None:
    """Print the table, and keep the record unless it was a quick look."""
    about = report.conditions(scale, rounds)
    python()
    subject = Subject(BARNABAS, directory / "spark-bench-broker")
    try:
        prepare(subject, rows, scale)
        samples = list(collect(subject.bootstrap, rows, scale, rounds))
    finally:
        subject.close()
    report.print_table(rows, samples, RIVALS)
    if scale is not QUICK:
        print(report.record(rows, samples, about))
        if len(rows) == len(ROWS):
            report.publish(rows, samples, about, RIVALS)


def prepare(subject: Subject, rows: Sequence[SparkRow], scale: Scale) -> None:
    subject.create_topic(TICK_TOPIC)
    subject.create_topic(WRITE_TOPIC, partitions=WRITE_PARTITIONS)
    for backlog in dict.fromkeys(row.backlog for row in rows if row.backlog is not None):
        console.print(f"filling {backlog.topic} …", highlight=False)
        subject.create_topic(backlog.topic, partitions=backlog.partitions)
        fill(subject.bootstrap, backlog, scale.share)


def collect(bootstrap: str, rows: Sequence[SparkRow], scale: Scale, rounds: int) -> Iterator[Sample]:
    order = {
        "bootstrap": bootstrap,
        "rows": [row.key for row in rows],
        "rounds": rounds,
        "share": scale.share,
        "jars": ",".join(map(str, connector_jars())),
    }
    command = [str(python()), "-m", "bench.spark.worker", json.dumps(order)]
    with subprocess.Popen(
        command, cwd=CHECKOUT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as worker:
        assert worker.stdout is not None
        for line in worker.stdout:
            if line.startswith(SAMPLE):
                sample = Sample(**json.loads(line.removeprefix(SAMPLE)))
                console.print(f"{sample.row}, {sample.subject}: {sample.figures}", highlight=False)
                yield sample
    if worker.returncode != 0:
        raise UnavailableError(f"Spark's process ended with code {worker.returncode}.")
