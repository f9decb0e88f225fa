"""`python -m chaos --minutes 5 --seed 7`: exit code 0 when nothing was lost, doubled or out of order."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from barnabas import java
from chaos.report import show
from chaos.run import Findings, Run
from chaos.stage import Stage


def main() -> int:
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep logs and data there")
    asked = parser.parse_args()
    console = Console(highlight=False)
    console.print(f"three brokers, three ZooKeepers, {asked.minutes:g} minutes, seed {asked.seed}")
    try:
        java.require(needed_by="ZooKeeper")
    except java.JavaError as missing:
        console.print(str(missing), style="red")
        return 2
    with tempfile.TemporaryDirectory(prefix="barnabas-chaos-") as scratch:
        findings = _run(console, asked.keep or Path(scratch), asked.seed, asked.minutes * 60)
    show(console, findings)
    if findings.problems:
        console.print(f"Again: make chaos MINUTES={asked.minutes:g} SEED={asked.seed}")
    return 1 if findings.problems else 0


def _run(console: Console, directory: Path, seed: int, seconds: float) -> Findings:
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting", total=1.0)

        def tell(what: str, share: float) -> None:
            progress.update(task, description=what, completed=min(1.0, share))
            if not console.is_terminal:
                print(f"{share:4.0%} {what}", file=sys.stderr, flush=True)

        with Stage(directory) as stage:
            return Run(stage, seed, seconds, tell).run()


if __name__ == "__main__":
    sys.exit(main())
