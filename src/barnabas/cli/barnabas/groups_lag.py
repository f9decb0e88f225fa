"""barnabas groups show: a group's lag, once or again and again."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from barnabas.cli.barnabas.common import Cell, connect, show
from barnabas.cli.parts.consumer_groups_rows import OffsetRow, offset_rows, partitions_of
from barnabas.cli.parts.lag_view import BAR_WIDTH, HISTORY, LagHistory, bar, largest, total
from barnabas.cli.support import partitions
from barnabas.model.errors import ApiError
from barnabas.wire import Cluster
from barnabas.wire.admin import group_offsets, groups
from barnabas.wire.admin.groups import Group

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = ("topic", "partition", "at", "end", "lag", "client", "member")


def add_watch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group")
    parser.add_argument("--watch", action="store_true", help="look again and again, until Ctrl-C")
    parser.add_argument("--every", type=float, default=2.0, metavar="SECONDS", help="between looks (2)")
    parser.add_argument("--times", type=int, metavar="N", help="stop after N looks")


def lag(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        if asked.watch:
            try:
                _watch(cluster, asked)
            except KeyboardInterrupt:
                return 0  # the usual way to leave
            return 0
        group, rows = _look(cluster, asked.group)
    show(asked, COLUMNS, [_cells(row) for row in rows], _title(group, rows))
    return 0


def described(cluster: Cluster, group_id: str) -> Group:
    answer = groups.describe(cluster, [group_id])[group_id]
    if isinstance(answer, ApiError):
        raise answer
    return answer


def _look(cluster: Cluster, group_id: str) -> tuple[Group, list[OffsetRow]]:
    group = described(cluster, group_id)
    committed = group_offsets.committed(cluster, group_id)
    ends = partitions.ends(cluster, partitions_of(group, committed))
    return group, sorted(offset_rows(group, committed, ends), key=lambda row: row.partition)


def _cells(row: OffsetRow) -> tuple[Cell, ...]:
    member = row.member
    return (
        row.partition.topic,
        row.partition.partition,
        row.offset,
        row.log_end_offset,
        row.lag,
        None if member is None else member.client_id,
        None if member is None else member.member_id,
    )


def _title(group: Group, rows: list[OffsetRow]) -> str:
    return f"{group.group_id} is {group.state}: {members(group)}, lag {total(rows)}"


def members(group: Group) -> str:
    count = len(group.members)
    return "1 member" if count == 1 else f"{count or 'no'} members"


def _watch(cluster: Cluster, asked: argparse.Namespace) -> None:
    history = LagHistory()
    looks = 0
    screen = _screen(asked)
    with screen:
        while asked.times is None or looks < asked.times:
            if looks:
                time.sleep(asked.every)
            group, rows = _look(cluster, asked.group)
            history.see(rows)
            screen.show(group, rows, history)
            looks += 1


def _screen(asked: argparse.Namespace) -> Any:
    if asked.json:
        return JsonLines()
    return LiveTable() if sys.stdout.isatty() else Lines()


class Lines:
    """For a pipe or a file: one line per look."""

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""

    def show(self, group: Group, rows: list[OffsetRow], _: LagHistory) -> None:
        parts = " ".join(f"{row.partition}={'?' if row.lag is None else row.lag}" for row in rows)
        print(f"{time.strftime('%H:%M:%S')} {_title(group, rows)} {parts}", flush=True)


class JsonLines(Lines):
    """For programs: one object per look."""

    def show(self, group: Group, rows: list[OffsetRow], _: LagHistory) -> None:
        fields = {
            "group": group.group_id,
            "state": group.state,
            "members": len(group.members),
            "lag": total(rows),
            "partitions": [dict(zip(COLUMNS, _cells(row), strict=True)) for row in rows],
        }
        print(json.dumps(fields, ensure_ascii=False), flush=True)


class LiveTable(Lines):
    """For people: a table that stays in its place, with bars and a trend."""

    def __init__(self) -> None:
        from rich.live import Live

        self._live = Live(auto_refresh=False)

    def __enter__(self) -> LiveTable:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, group: Group, rows: list[OffsetRow], history: LagHistory) -> None:
        self._live.update(lag_table(group, rows, history), refresh=True)


def lag_table(group: Group, rows: list[OffsetRow], history: LagHistory) -> Table:
    from rich.table import Table
    from rich.text import Text

    title = f"{_title(group, rows)}   (Ctrl-C leaves)"
    table = Table(title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for name in ("topic", "partition", "at", "end", "lag"):
        table.add_column(name, justify="left" if name == "topic" else "right")
    # Wide enough from the first look on, so that nothing moves when there is more to show.
    for name, width in (("", BAR_WIDTH), ("trend", HISTORY), ("client", None)):
        table.add_column(name, min_width=width)
    scale = largest(rows)
    for row in rows:
        topic, partition, offset, end, behind, client, _ = _cells(row)
        shown = ["" if cell is None else str(cell) for cell in (topic, partition, offset, end, behind)]
        texts = [*shown, bar(row.lag, scale), history.trend(row.partition), str(client or "")]
        table.add_row(*map(Text, texts))
    return table
