"""The command line of `barnabas demo`.

Without `--bootstrap-server` it starts a broker of its own in a temporary folder and removes it afterwards.
Exit code 0: every position was processed exactly once. 1: it was not, and a sentence says what is wrong.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from barnabas.cli.barnabas.demo import needs, topics, traffic
from barnabas.cli.barnabas.demo.fleet import REPORTS_PER_MINUTE
from barnabas.cli.barnabas.demo.show import FailedError, show
from barnabas.cli.support.failures import FAILURES
from barnabas.client import ClientError
from barnabas.spark.errors import PipelineError
from barnabas.testing import Broker, BrokerFailedError
from barnabas.wire import DeadlineError

_WINDOW_MS = 300_000


def run_command(arguments: Sequence[str]) -> int:
    asked = _parser().parse_args(list(arguments))
    console = Console(highlight=False)
    lack = needs.missing() if asked.pipeline is not False else None
    if lack is not None and asked.pipeline:
        console.print(lack, style="red", markup=False)
        return 1
    try:
        return _run(console, asked, lack)
    except DeadlineError:
        where = asked.bootstrap_server or "the address it started on"
        console.print(f"No broker answers at {where}: start one with `barnabas run`.", style="red")
        return 1
    except (ClientError, PipelineError, BrokerFailedError, FailedError, *FAILURES) as problem:
        console.print(str(problem), style="red", markup=False)
        return 1
    except KeyboardInterrupt:
        return 130


def _run(console: Console, asked: argparse.Namespace, lack: str | None) -> int:
    with_pipeline = asked.pipeline is not False and lack is None
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="barnabas-demo-")))
        server = asked.bootstrap_server or _broker(stack, console)
        image = asked.image if with_pipeline else None
        problems = show(console, _drive(server, asked), folder, image, asked.timeout)
    if lack is not None:
        console.print(f"This was the demo without its pipeline. {lack}", style="yellow", markup=False)
    for problem in problems:
        console.print(problem, style="red", markup=False)
    return 1 if problems else 0


def _broker(stack: ExitStack, console: Console) -> str:
    began = time.monotonic()
    server = stack.enter_context(Broker()).bootstrap
    console.print(f"Started a broker on {server} in {time.monotonic() - began:.2f} s.")
    return server


def _drive(server: str, asked: argparse.Namespace) -> traffic.Drive:
    count = asked.reports or asked.minutes * REPORTS_PER_MINUTE
    # The drive ends about now, and begins with a window.
    begin_ms = int(time.time() * 1000) - count * 60_000 // REPORTS_PER_MINUTE
    return traffic.Drive(
        server=server,
        truck_count=asked.trucks,
        report_count=count,
        seconds=asked.seconds,
        start_ms=begin_ms // _WINDOW_MS * _WINDOW_MS,
        starts=traffic.prepare(server, list(topics.PARTITIONS)),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="barnabas demo",
        description="Trucks report where they are; a dashboard, a notification service and a PySpark "
        "pipeline read it, and the pipeline writes speeds, stops and a summary, exactly once.",
    )
    parser.add_argument("--bootstrap-server", metavar="HOST:PORT", help="use this broker, start none")
    parser.add_argument("--trucks", type=_positive, default=1000, metavar="N", help="(1000)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=_positive, default=30, metavar="N", help="of simulated time (30)")
    length.add_argument("--reports", type=_positive, metavar="N", help="positions of each truck, 3 a minute")
    parser.add_argument("--seconds", type=float, default=15.0, metavar="S", help="the drive takes here (15)")
    parser.add_argument("--image", type=Path, default=Path("trucks.png"), metavar="PATH", help="(trucks.png)")
    parser.add_argument(
        "--pipeline",
        action=argparse.BooleanOptionalAction,
        help="insist on the pipeline in Spark, or leave it out; otherwise it runs where Spark can",
    )
    parser.add_argument("--timeout", type=float, default=300.0, metavar="S", help="give up after this (300)")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number
