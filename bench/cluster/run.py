"""One cluster at a time, A B B A: six brokers at once would measure the machine and not them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import confluent_kafka
from rich.console import Console

from barnabas.testing import BrokerFailedError
from bench import report
from bench.apache_kafka import VERSION, provision
from bench.cluster.rows import ROWS, ClusterRow, warm_up
from bench.cluster.subject import ClusterSubject
from bench.homes import home
from bench.report import Rivals, Sample
from bench.scale import QUICK, Scale
from bench.subject import BARNABAS, KAFKA

console = Console(stderr=True)
CLUSTERS = Rivals(KAFKA, VERSION, kind="three nodes, KRaft", table="cluster.md")


def measure(rows: Sequence[ClusterRow], scale: Scale, rounds: int, directory: Path) -> None:
    provision()
    about = report.conditions(scale, rounds)
    samples: list[Sample] = []
    for number in range(rounds):
        there = (KAFKA, BARNABAS) if number % 2 == 0 else (BARNABAS, KAFKA)
        for name in there:
            with home(directory, f"{name} cluster") as place:
                samples += _measure(rows, name, scale, number, place)
    report.print_table(rows, samples, CLUSTERS)
    if scale is not QUICK:
        print(report.record(rows, samples, about))
        if len(rows) == len(ROWS):
            report.publish(rows, samples, about, CLUSTERS)


def _measure(
    rows: Sequence[ClusterRow], name: str, scale: Scale, number: int, directory: Path
) -> list[Sample]:
    console.print(f"round {number + 1}: three brokers of {name} …", highlight=False)
    samples = []
    subject = ClusterSubject(name, directory)
    try:
        warm_up(subject, scale)
        for row in rows:
            console.print(f"round {number + 1}: {row.title}, {name} …", highlight=False)
            os.sync()
            try:
                samples.append(Sample(row.key, name, number, row.run(subject, scale)))
            except (
                RuntimeError,
                BrokerFailedError,
                subprocess.SubprocessError,
                confluent_kafka.KafkaException,
            ) as problem:
                samples.append(Sample(row.key, name, number, {}, str(problem).strip()[:300]))
                console.print(f"  failed: {samples[-1].problem}", highlight=False)
    finally:
        subject.close()
    return samples
