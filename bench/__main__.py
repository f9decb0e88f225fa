"""`make bench`: Apache Kafka and Barnabas under the same loads, A B B A, and a table of ratios.

Both brokers run side by side, one at work and one idle, so that a load on one is followed at once by the
same load on the other. Whoever comes second finds the machine as the first has left it, so each load goes
there and back, and every round starts both afresh and swaps who goes first.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import confluent_kafka
from rich.console import Console

from bench import report
from bench.all_rows import ROWS, SETS
from bench.apache_kafka import UnavailableError, provision
from bench.cluster.rows import ROWS as CLUSTER_ROWS
from bench.cluster.rows import ClusterRow
from bench.cluster.run import measure as measure_clusters
from bench.compiling import compiled
from bench.coordinators.rows import ROWS as COORDINATOR_ROWS
from bench.generator import SOURCE
from bench.homes import home
from bench.report import Sample
from bench.rows import ROWS as LOG_ROWS
from bench.rows import Row, warm_up
from bench.scale import LONG, NORMAL, QUICK, Scale
from bench.spark.rows import ROWS as SPARK_ROWS
from bench.spark.rows import SparkRow
from bench.spark.run import measure as measure_connectors
from bench.subject import BARNABAS, KAFKA, Subject

console = Console(stderr=True)
KEYS = [
    *(row.key for row in ROWS),
    *(row.key for row in CLUSTER_ROWS),
    *(row.key for row in SPARK_ROWS),
]
T = TypeVar("T")

# What a row may come to grief of, without the others.
PROBLEMS = (
    RuntimeError,
    UnavailableError,
    subprocess.SubprocessError,
    AssertionError,
    confluent_kafka.KafkaException,
)


def parse(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, help="how often both are started (2; quick: 1)")
    parser.add_argument(
        "--only",
        action="append",
        metavar="ROW",
        help=", ".join([*SETS, *KEYS]),
    )
    parser.add_argument(
        "--quick", action="store_true", help="short loads and small backlogs: a look, not a record"
    )
    parser.add_argument("--long", action="store_true", help="backlogs of 10 GB")
    parser.add_argument("--directory", type=Path, help="where the brokers keep their data meanwhile")
    return parser.parse_args(words)


def selected_rows(
    only: Sequence[str] | None,
) -> tuple[list[Row], list[ClusterRow], list[SparkRow]]:
    """Those of one broker, of three, and of Spark's connectors: all, or those named."""
    named = [name for word in only or () for name in word.split(",")]
    wanted = {key for name in named for key in SETS.get(name, (name,))}
    unknown = wanted - set(KEYS)
    if unknown:
        raise UnavailableError(f"There is no row {', '.join(sorted(unknown))}; known: {', '.join(KEYS)}.")
    return (
        [row for row in ROWS if not wanted or row.key in wanted],
        [row for row in CLUSTER_ROWS if not wanted or row.key in wanted],
        [row for row in SPARK_ROWS if not wanted or row.key in wanted],
    )


@contextlib.contextmanager
def subjects(order: Sequence[str], directory: Path) -> Iterator[list[Subject]]:
    with contextlib.ExitStack() as running:
        started = []
        for name in order:
            subject = Subject(name, running.enter_context(home(directory, name)))
            running.callback(subject.close)
            started.append(subject)
        yield started


def measure(row: Row, subject: Subject, scale: Scale, number: int) -> Sample:
    console.print(f"round {number // 2 + 1}: {row.title}, {subject.name} …", highlight=False)
    os.sync()  # what the previous load wrote is not written back at this one's expense
    try:
        return Sample(row.key, subject.name, number, row.run(subject, scale))
    except PROBLEMS as problem:
        return Sample(row.key, subject.name, number, {}, str(problem).strip()[:300])


def run(rows: Sequence[Row], scale: Scale, rounds: int, directory: Path) -> list[Sample]:
    samples = []
    for number in range(rounds):
        order = (KAFKA, BARNABAS) if number % 2 == 0 else (BARNABAS, KAFKA)
        with subjects(order, directory) as started:
            for subject in started:
                warm_up(subject, scale)
            for row in rows:
                for pair, subject in there_and_back(row, started, number):
                    samples.append(measure(row, subject, scale, pair))
    return samples


def there_and_back(row: Row, started: Sequence[T], number: int) -> list[tuple[int, T]]:
    """Who is measured, in order, and which pair that belongs to: A B B A, or A B where once is enough."""
    there = [(2 * number, subject) for subject in started]
    return there if row.once else there + [(2 * number + 1, subject) for subject in reversed(started)]


def main(words: Sequence[str]) -> int:
    # Stopped from outside, it still stops its brokers and removes their data.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = parse(words)
    scale = QUICK if options.quick else LONG if options.long else NORMAL
    rounds = options.rounds or (1 if options.quick else 2)
    directory = Path(tempfile.mkdtemp(prefix="barnabas-bench-", dir=options.directory))
    try:
        rows, cluster_rows, spark_rows = selected_rows(options.only)
        if rows:
            compare_brokers(rows, scale, rounds, directory)
        if cluster_rows:
            measure_clusters(cluster_rows, scale, rounds, directory)
        if spark_rows:
            measure_connectors(spark_rows, scale, rounds, directory)
    except UnavailableError as missing:
        console.print(f"The bench cannot run: {missing}", highlight=False)
        return 1
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return 0


def compare_brokers(rows: Sequence[Row], scale: Scale, rounds: int, directory: Path) -> None:
    provision()
    compiled(SOURCE)
    free = shutil.disk_usage(directory).free
    if free < scale.disk_bytes and len(rows) == len(ROWS):
        console.print(
            f"All rows write up to {scale.disk_bytes / 1e9:.0f} GB; {directory} has {free / 1e9:.0f} left. "
            "--directory says where else to write.",
            highlight=False,
        )
    about = report.conditions(scale, rounds)
    samples = run(rows, scale, rounds, directory)
    report.print_table(rows, samples)
    if scale is not QUICK:
        print(report.record(rows, samples, about, is_whole=len(rows) == len(ROWS)))
        for rivals, part in ((report.BROKERS, LOG_ROWS), (report.COORDINATORS, COORDINATOR_ROWS)):
            if all(row in rows for row in part):
                report.publish(part, samples, about, rivals)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
