"""What the demo shows in the terminal. Results in, tables out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from barnabas.cli.barnabas.demo import topics
from barnabas.cli.barnabas.demo.results import Results, longest
from barnabas.cli.barnabas.demo.services import Dashboard, Notifications
from barnabas.cli.barnabas.demo.traffic import Progress
from barnabas.cli.parts.lag_view import bar

_SHADES = " ·░▒▓█"
_MAP_COLUMNS, _MAP_ROWS = 44, 11
_STOPS_SHOWN = 5
_BAR_WIDTH = 14


def dashboard(seen: Dashboard) -> Panel:
    """Where the trucks are now."""
    fields = seen.density(_MAP_COLUMNS, _MAP_ROWS)
    most = max(max(row) for row in fields) or 1
    lines = ["".join(_shade(count, most) for count in row) for row in fields]
    return Panel(
        Text("\n".join(lines), style="cyan", no_wrap=True),
        title=f"location dashboard: {len(seen.last):,} trucks",
        title_align="left",
        expand=False,
    )


def _shade(count: int, most: int) -> str:
    return _SHADES[0] if count == 0 else _SHADES[1 + min(4, count * 5 // (most + 1))]


def notifications(seen: Notifications) -> Panel:
    lines = [f"{clock(row.time_ms)}  {row.truck} {row.event} depot {row.depot + 1}" for row in seen.latest]
    counts = ", ".join(f"{count:,} {event}" for event, count in sorted(seen.counts.items()))
    return Panel(
        Text("\n".join(["…", *lines]) if lines else "nobody left a depot or came to one"),
        title=f"notification service: {counts or 'nothing to tell'}",
        title_align="left",
        expand=False,
    )


def summary(results: Results) -> Table:
    table = _table(f"{topics.SUMMARY}: the fleet in each five minutes")
    for name in ("since", "positions", "driving", "standing", "driven, km", "mean km/h"):
        table.add_column(name, justify="right")
    table.add_column("")
    windows = sorted(results.windows.values())
    fastest = max((round(window.mean_speed_kmh) for window in windows), default=1)
    for window in windows:
        shown = [window.positions, window.moving, window.standing, round(window.distance_m / 1000)]
        speed = f"{window.mean_speed_kmh:.1f}"
        length = bar(round(window.mean_speed_kmh), fastest, _BAR_WIDTH)
        table.add_row(clock(window.since_ms), *(f"{number:,}" for number in shown), speed, length)
    return table


def stops(results: Results) -> Table:
    table = _table(f"{topics.STOPS}: the longest of {len(results.stops):,}")
    for name in ("truck", "since", "minutes", "latitude", "longitude"):
        table.add_column(name, justify="left" if name == "truck" else "right")
    for truck, stop in longest(results.stops, _STOPS_SHOWN):
        place = f"{stop.latitude:.4f}", f"{stop.longitude:.4f}"
        table.add_row(truck, clock(stop.since_ms), f"{stop.seconds / 60:.1f}", *place)
    return table


def groups(rows: Sequence[Progress]) -> Table:
    table = _table("who reads what, and how far behind")
    for name in ("group", "reads", "is"):
        table.add_column(name)
    for name in ("at", "end", "lag"):
        table.add_column(name, justify="right")
    for row in rows:
        kind = "a query in Spark" if row.group in topics.IN_SPARK else "a consumer"
        table.add_row(row.group, row.topic, kind, *(f"{number:,}" for number in (row.done, row.end, row.lag)))
    return table


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)


def clock(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%H:%M:%S")
