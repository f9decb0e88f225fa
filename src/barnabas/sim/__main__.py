"""`python -m barnabas.sim`: replay one seed, or run many with a progress bar and a table at the end."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from barnabas.sim.catalogue import CATALOGUE, play
from barnabas.sim.cluster.promise import ClusterPromise
from barnabas.sim.history import Acknowledged, CommitAcknowledged, Ended, Event, Happened, History, Seen
from barnabas.sim.promise import Promise
from barnabas.sim.run import Outcome
from barnabas.sim.telling import tell

_SHOWN_MAX = 10


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m barnabas.sim", description=__doc__)
    parser.add_argument("--promise", choices=sorted(CATALOGUE), help="one promise only")
    parser.add_argument("--seed", type=int, help="replay this seed")
    parser.add_argument("--seeds", type=int, default=1000, help="how many seeds for each promise")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--verbose", action="store_true", help="print everything that happened")
    options = parser.parse_args(arguments)
    promises = [CATALOGUE[options.promise]] if options.promise else list(CATALOGUE.values())
    console = Console(soft_wrap=True, highlight=False)
    if options.seed is None:
        return _run_many(console, promises, range(options.first, options.first + options.seeds))
    outcomes = [play(promise, options.seed, talk=options.verbose) for promise in promises]
    for outcome in outcomes:
        if options.verbose:
            _print_history(console, outcome.history)
        console.print(str(outcome) if outcome.violations else f"{outcome.promise} holds.", markup=False)
    return int(any(outcome.violations for outcome in outcomes))


# --- many seeds --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Tally:
    promise: Promise | ClusterPromise
    events: Counter[type[Event]] = field(default_factory=Counter)
    faults: int = 0
    failed: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, outcome: Outcome) -> None:
        for _, event in outcome.history.events:
            self.events[type(event)] += 1
        self.faults += sum(isinstance(event, Happened) for _, event in outcome.history.events)
        if outcome.violations:
            self.failed.append(outcome)


def _run_many(console: Console, promises: list[Promise | ClusterPromise], seeds: range) -> int:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    tallies = []
    with Progress(*columns, console=console) as progress:
        for promise in promises:
            task = progress.add_task(promise.name, total=len(seeds))
            tally = _Tally(promise)
            tallies.append(tally)
            started = time.perf_counter()
            for seed in seeds:
                tally.add(play(promise, seed))
                progress.advance(task)
            tally.seconds = time.perf_counter() - started
    console.print(_table(tallies, len(seeds)))
    for tally in tallies:
        for outcome in tally.failed[:_SHOWN_MAX]:
            console.print(str(outcome), markup=False)
    return int(any(tally.failed for tally in tallies))


def _table(tallies: list[_Tally], seeds: int) -> Table:
    table = Table(title="Simulated schedules")
    table.add_column("promise", no_wrap=True)
    for name in ("schedules", "acks", "fetches", "commits", "transactions", "faults", "ms each", "broken"):
        table.add_column(name, justify="right", no_wrap=True)
    for tally in tallies:
        table.add_row(
            tally.promise.name,
            f"{seeds:,}",
            f"{tally.events[Acknowledged]:,}",
            f"{tally.events[Seen]:,}",
            f"{tally.events[CommitAcknowledged]:,}",
            f"{tally.events[Ended]:,}",
            f"{tally.faults:,}",
            f"{tally.seconds / max(seeds, 1) * 1000:.1f}",
            f"[red]{len(tally.failed)}[/red]" if tally.failed else "[green]0[/green]",
        )
    return table


# --- one seed ----------------------------------------------------------------------------------------------


def _print_history(console: Console, history: History) -> None:
    for now_ms, event in history.events:
        console.print(f"{now_ms:7d} ms  {tell(event)}", markup=False)


if __name__ == "__main__":
    logging.basicConfig(format="                    %(name)s %(message)s", stream=sys.stdout)
    sys.exit(main())
