"""The results: ratios with their range over the rounds, as a table on the screen, as Markdown, as a
picture and as JSON.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.table import Table

from bench.apache_kafka import CHECKOUT, VERSION
from bench.plot import save_plot
from bench.rows import Figure
from bench.scale import Scale
from bench.subject import BARNABAS, KAFKA

RESULTS = Path(__file__).parent / "results"
BAR_WIDTH = 12
ROWS_NAMED_MAX = 4


class Titled(Protocol):
    """What the report asks of a row."""

    @property
    def key(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def figures(self) -> tuple[Figure, ...]: ...


@dataclass(frozen=True, slots=True)
class Rivals:
    """Who is compared: `theirs` is what a ratio divides by."""

    theirs: str
    version: str
    ours: str = BARNABAS
    kind: str = "single node, KRaft"
    table: str = "latest.md"


BROKERS = Rivals(KAFKA, VERSION)
COORDINATORS = Rivals(KAFKA, VERSION, table="coordinators.md")


@dataclass(frozen=True, slots=True)
class Sample:
    """One row measured once on one broker, or why it could not be. `round` numbers the pairs: two per round,
    one there and one back.
    """

    row: str
    subject: str
    round: int
    figures: dict[str, float]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One figure over all rounds; ratios pair our figure with the rival's of the same round."""

    row: Titled
    figure: Figure
    theirs: float | None
    ours: float | None
    ratios: list[float]

    @property
    def ratio(self) -> float | None:
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def times_better(self) -> float | None:
        """Above one: better than the rival, whichever direction is the better one."""
        if not self.ratio:
            return None
        return 1 / self.ratio if self.figure.lower_is_better else self.ratio

    def verdict(self) -> str:
        if self.ratio is None or self.ours is None or not self.figure.budget_text():
            return ""
        return "yes" if self.figure.is_within_budget(self.ours, self.ratio) else "no"

    def cells(self) -> tuple[str, ...]:
        spread = f"{min(self.ratios):.2f}–{max(self.ratios):.2f}" if self.ratios else ""
        ratio = f"{self.ratio:.2f}×" if self.ratio is not None else ""
        return (
            self.row.title,
            f"{self.figure.key}, {self.figure.unit}",
            _number(self.theirs),
            _number(self.ours),
            ratio,
            spread,
            self.figure.budget_text(),
        )


def lines(rows: Sequence[Titled], samples: Sequence[Sample], rivals: Rivals = BROKERS) -> list[Line]:
    return [_line(row, figure, samples, rivals) for row in rows for figure in row.figures]


def _line(row: Titled, figure: Figure, samples: Sequence[Sample], rivals: Rivals) -> Line:
    by_subject: dict[str, dict[int, float]] = {rivals.theirs: {}, rivals.ours: {}}
    for sample in samples:
        if sample.row == row.key and figure.key in sample.figures:
            by_subject[sample.subject][sample.round] = sample.figures[figure.key]
    theirs, ours = by_subject[rivals.theirs], by_subject[rivals.ours]
    ratios = [ours[number] / theirs[number] for number in ours if theirs.get(number)]
    return Line(row, figure, _median(theirs), _median(ours), ratios)


def _median(values: dict[int, float]) -> float | None:
    return statistics.median(values.values()) if values else None


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _bar(line: Line) -> str:
    """Our figure against the rival's on one scale: a shorter bar is less."""
    if line.ratio is None:
        return ""
    length = max(1, round(min(line.ratio, 2.0) / 2.0 * BAR_WIDTH))
    better = (line.ratio < 1) == line.figure.lower_is_better
    return f"[{'green' if better else 'red'}]{'█' * length}[/]"


def print_table(rows: Sequence[Titled], samples: Sequence[Sample], rivals: Rivals = BROKERS) -> None:
    title = f"{rivals.ours} beside {rivals.theirs} {rivals.version} (medians; ratio = ours / theirs)"
    table = Table(title=title)
    for heading in ("load", "figure", rivals.theirs, rivals.ours, "ratio", "range", "budget", ""):
        table.add_column(heading, justify="left" if heading in ("load", "figure", "") else "right")
    previous = None
    for line in lines(rows, samples, rivals):
        cells = line.cells()
        title = "" if line.row.key == previous else cells[0]
        mark = {"yes": "[green]✓[/]", "no": "[red]✗[/]", "": ""}[line.verdict()]
        table.add_row(
            title,
            *cells[1:-1],
            f"{cells[-1]} {mark}",
            _bar(line),
            end_section=line.figure is line.row.figures[-1],
        )
        previous = line.row.key
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)  # a file has no width; do not fold the cells
    console.print(table)
    for sample in samples:
        if sample.problem is not None:
            where = f"{sample.row} on {sample.subject}, round {sample.round // 2 + 1}"
            console.print(f"{where}: {sample.problem}", style="red")


def markdown(
    rows: Sequence[Titled],
    samples: Sequence[Sample],
    about: dict[str, object],
    rivals: Rivals = BROKERS,
) -> str:
    out = [
        f"| load | figure | {rivals.theirs} | {rivals.ours} | ratio (range) | budget |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for line in lines(rows, samples, rivals):
        title, figure, theirs, ours, ratio, spread, budget = line.cells()
        if ratio:
            ratio = f"{ratio} ({spread})"
        mark = {"yes": " ✓", "no": " ✗", "": ""}[line.verdict()]
        out.append(f"| {title} | {figure} | {theirs} | {ours} | {ratio} | {budget}{mark} |")
    rounds = about["rounds"]
    out += [
        "",
        f"Medians of {rounds} round{'s' if rounds != 1 else ''}, A B B A each, on {about['cores']} cores, "
        f"Linux {about['kernel']}, Python {about['python']}, "
        f"{rivals.theirs} {rivals.version} ({rivals.kind}), commit {about['commit']}, {about['date']}, "
        f"scale {about['scale']}. Ratio: ours divided by theirs.",
        "",
    ]
    return "\n".join(out)


def conditions(scale: Scale, rounds: int) -> dict[str, object]:
    return {
        "date": datetime.now().strftime("%Y-%m-%d"),
        "commit": _git("rev-parse", "--short", "HEAD") or "unknown",
        "uncommitted changes": bool(_git("status", "--porcelain", "--untracked-files=no")),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "kafka": VERSION,
        "load average": os.getloadavg(),
        "scale": scale.name,
        "backlog bytes": scale.backlog_bytes,
        "rounds": rounds,
    }


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip()


def _named(rows: Sequence[Titled]) -> str:
    """Part of a file's name, which may not be long."""
    keys = [row.key for row in rows]
    return "-".join(keys) if len(keys) <= ROWS_NAMED_MAX else f"{keys[0]}-to-{keys[-1]}"


def record(
    rows: Sequence[Titled], samples: Sequence[Sample], about: dict[str, object], *, is_whole: bool = False
) -> Path:
    """What was measured, under a name that says which rows, unless all were."""
    RESULTS.mkdir(exist_ok=True)
    content = {
        "conditions": about,
        "samples": [
            {"row": s.row, "subject": s.subject, "round": s.round, "figures": s.figures, "problem": s.problem}
            for s in samples
        ],
    }
    part = "" if is_whole else "-" + _named(rows)
    path = RESULTS / f"{about['date']}-{about['commit']}{part}.json"
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path


def publish(
    rows: Sequence[Titled],
    samples: Sequence[Sample],
    about: dict[str, object],
    rivals: Rivals = BROKERS,
) -> None:
    """The table that the README shows, and its picture: of a run that had all of these rows."""
    (RESULTS / rivals.table).write_text(markdown(rows, samples, about, rivals))
    plot(lines(rows, samples, rivals), rivals)


def plot(all_lines: Sequence[Line], rivals: Rivals) -> None:
    """Beside the table. Only figures that have a budget: the others explain those."""
    times_better = {
        f"{line.row.title}: {line.figure.key}": times
        for line in all_lines
        if line.figure.budget_text() and (times := line.times_better)
    }
    title = f"{rivals.ours} beside {rivals.theirs} {rivals.version}: times better"
    if times_better:
        save_plot((RESULTS / rivals.table).with_suffix(".svg"), title, times_better)
