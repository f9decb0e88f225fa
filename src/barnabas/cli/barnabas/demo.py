"""`barnabas demo`: a fleet of trucks reports its positions; everything comes back, in order per truck.

Without `--bootstrap-server` it starts a broker of its own in a temporary folder and removes it afterwards.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from barnabas.client import Admin, Consumer, Producer, from_json, to_json
from barnabas.testing import Broker

TOPIC = "trucks_gps"
PARTITIONS = 10
_SECONDS_BETWEEN_REPORTS = 20


class Position(NamedTuple):
    truck: str
    report: int
    latitude: float
    longitude: float


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="barnabas demo", description="A fleet of trucks on a map.")
    parser.add_argument("--bootstrap-server", help="use this broker instead of starting one")
    parser.add_argument("--trucks", type=int, default=1000)
    parser.add_argument("--reports", type=int, default=30, help="positions sent by each truck")
    words = parser.parse_args(list(arguments))
    console = Console()
    with ExitStack() as stack:
        server = words.bootstrap_server
        if server is None:
            began = time.monotonic()
            server = stack.enter_context(Broker()).bootstrap
            console.print(f"Started a broker on {server} in {time.monotonic() - began:.2f} s.")
        return 0 if run(console, server, words.trucks, words.reports) else 1


def run(console: Console, server: str, trucks: int, reports: int) -> bool:
    with Admin(server) as admin:
        if TOPIC not in admin.topics():
            admin.create_topic(TOPIC, partitions=PARTITIONS)
    console.print(f"Topic {TOPIC} has {PARTITIONS} partitions; {trucks} trucks report {reports} times each.")
    began = datetime.now(UTC)  # an older fleet may have driven here before
    total = trucks * reports
    with Progress(
        TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console,
    ) as progress:  # fmt: skip
        send(server, positions(trucks, reports), progress, total)
        received = receive(server, began, progress, total)
    console.print(summary(received))
    problems = list(faults(received, trucks, reports))
    for problem in problems:
        console.print(f"[red]{problem}")
    if not problems:
        console.print(f"[green]All {total} positions came back, each truck in one partition and in order.")
    return not problems


def positions(trucks: int, reports: int) -> Iterator[Position]:
    """Every truck drives a circle of its own; all of them report every twenty seconds."""
    for report in range(reports):
        for truck in range(trucks):
            angle = (truck + report * _SECONDS_BETWEEN_REPORTS) / 300
            latitude, longitude = 48.2 + truck % 40 / 20, 14.3 + truck // 40 / 20
            yield Position(
                f"truck-{truck:04d}",
                report,
                round(latitude + math.sin(angle) / 50, 5),
                round(longitude + math.cos(angle) / 50, 5),
            )


def send(server: str, fleet: Iterator[Position], progress: Progress, total: int) -> None:
    task = progress.add_task("producing", total=total)
    with Producer(server, value_serialiser=to_json) as producer:
        for position in fleet:
            producer.send(TOPIC, key=position.truck, value=position._asdict())
            progress.advance(task)


def receive(server: str, start: datetime, progress: Progress, total: int) -> dict[int, list[Position]]:
    task = progress.add_task("consuming", total=total)
    received: dict[int, list[Position]] = {partition: [] for partition in range(PARTITIONS)}
    with Consumer(server, TOPIC, start=start, until_end=True, value_deserialiser=from_json) as consumer:
        for record in consumer:
            received[record.partition].append(Position(**record.value))
            progress.advance(task)
    return received


def faults(received: dict[int, list[Position]], trucks: int, reports: int) -> Iterator[str]:
    home: dict[str, int] = {}
    seen: dict[str, int] = {}
    for partition, rows in received.items():
        for row in rows:
            if home.setdefault(row.truck, partition) != partition:
                yield f"{row.truck} appears in partitions {home[row.truck]} and {partition}"
            if row.report != seen.get(row.truck, -1) + 1:
                yield f"{row.truck}: report {row.report} follows {seen.get(row.truck, -1)}"
            seen[row.truck] = row.report
    missing = sum(reports - 1 - seen.get(f"truck-{truck:04d}", -1) for truck in range(trucks))
    if missing:
        yield f"{missing} positions are missing"


def summary(received: dict[int, list[Position]]) -> Table:
    table = Table(
        "partition", "trucks", "positions", "share", "last position", title=f"{TOPIC}, per partition"
    )
    most = max((len(rows) for rows in received.values()), default=1) or 1
    for partition, rows in sorted(received.items()):
        bar = "█" * round(20 * len(rows) / most)
        last = f"{rows[-1].truck}  {rows[-1].latitude:.3f} {rows[-1].longitude:.3f}" if rows else "—"
        table.add_row(str(partition), str(len({row.truck for row in rows})), str(len(rows)), bar, last)
    return table
