"""The demo as it runs: everybody at once, with bars, then what came of it and whether it is right."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from barnabas.cli.barnabas.demo import fleet, results, tables, topics, traffic
from barnabas.cli.barnabas.demo.geography import degrees_of
from barnabas.cli.barnabas.demo.services import Dashboard, InOrder, Notifications
from barnabas.client import Admin
from barnabas.wire import Cluster

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_LOOK_SECONDS = 0.5
_TRUCKS = "trucks"


class FailedError(Exception):
    """The demo could not run to its end; the sentence says why."""


def show(
    console: Console, drive: traffic.Drive, folder: Path, image: Path | None, timeout_s: float
) -> list[str]:
    """What is wrong, as sentences; an empty list when everything is right. No image, no pipeline."""
    console.print(_plan(drive))
    region = fleet.region_of()
    dashboard = Dashboard()
    notifications = Notifications([degrees_of(region.junctions[depot]) for depot in region.depots])
    checked = {topics.DASHBOARD: InOrder(dashboard), topics.NOTIFICATIONS: InOrder(notifications)}
    rows = _run(console, drive, checked, None if image is None else folder, timeout_s)
    console.print(tables.dashboard(dashboard), tables.notifications(notifications))
    problems = list(_service_faults(drive, checked))
    if image is not None:
        found = _read_results(drive)
        console.print(tables.summary(found), "", tables.stops(found), "")
        problems += results.faults(found, results.expected(drive.reports()))
        _draw(console, image, region, found)
    console.print(tables.groups(rows), "")
    if not problems:
        console.print(f"[green]{_praise(drive, with_pipeline=image is not None)}")
    return problems


def _plan(drive: traffic.Drive) -> str:
    return (
        f"{drive.truck_count:,} trucks report their position every {fleet.SECONDS_BETWEEN_REPORTS} s for "
        f"{drive.report_count / fleet.REPORTS_PER_MINUTE:.4g} minutes, which take {drive.seconds:g} s here: "
        f"{drive.position_count:,} positions to {topics.POSITIONS}, which has "
        f"{len(drive.starts[topics.POSITIONS])} partitions, keyed by truck."
    )


def _run(
    console: Console,
    drive: traffic.Drive,
    services: Mapping[str, InOrder],
    pipeline_folder: Path | None,
    timeout_s: float,
) -> list[traffic.Progress]:
    """Everybody works until every group has read everything; says how far each is then."""
    groups = [*services, *(topics.IN_SPARK if pipeline_folder else ())]
    with _Bars(console, drive.position_count, [_TRUCKS, *groups]) as bars, _jobs(drive) as jobs:
        working = [jobs.submit(traffic.send, drive, partial(bars.advance, _TRUCKS))]
        for group, service in services.items():
            working.append(jobs.submit(traffic.read, drive, group, service, partial(bars.advance, group)))
        with _Watch(drive, groups, bars, working, timeout_s) as watch:
            if pipeline_folder is not None:
                return _run_pipeline(drive, pipeline_folder, watch)
            return watch.until_all_is_read()


def _run_pipeline(drive: traffic.Drive, folder: Path, watch: _Watch) -> list[traffic.Progress]:
    from barnabas.cli.barnabas.demo import stream

    with stream.spark(folder) as session:
        speeds = stream.start_speeds(session, drive, folder)
        watch.queries.append(speeds)
        # One after the other: Spark gives a query's Python ten seconds to start, however busy the machine.
        watch.until(lambda: speeds.lastProgress is not None)
        watch.queries.append(stream.start_summary(session, drive, folder))
        return watch.until_all_is_read()


@contextmanager
def _jobs(drive: traffic.Drive) -> Iterator[ThreadPoolExecutor]:
    """Threads that end with whoever fails first."""
    with ThreadPoolExecutor() as jobs:
        try:
            yield jobs
        finally:
            drive.halted.set()


class _Watch:
    """Looks at those who work, and raises what goes wrong with any of them."""

    def __init__(
        self,
        drive: traffic.Drive,
        groups: Collection[str],
        bars: _Bars,
        working: Sequence[Future[None]],
        timeout_s: float,
    ) -> None:
        self._drive = drive
        self._groups = groups
        self._bars = bars
        self._working = working
        self._deadline = time.monotonic() + timeout_s
        self._cluster = Cluster.connect(drive.server, {})
        self._admin = Admin(drive.server)
        self._rows: list[traffic.Progress] = []
        self._is_idle = False
        self.queries: list[StreamingQuery] = []

    def __enter__(self) -> _Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.close()
        self._admin.close()

    def until_all_is_read(self) -> list[traffic.Progress]:
        self.until(lambda: self._is_idle and not any(row.lag for row in self._rows))
        return self._rows

    def until(self, is_done: Callable[[], bool]) -> None:
        self._look()
        while not is_done():
            if time.monotonic() > self._deadline:
                behind = ", ".join(f"{row.group} by {row.lag:,}" for row in self._rows if row.lag)
                raise FailedError(
                    f"Time is up; still behind: {behind or 'the trucks'}. --timeout gives it more."
                )
            time.sleep(_LOOK_SECONDS)
            self._look()

    def _look(self) -> None:
        # First who is done, then what was read: all that was sent until then is in the second.
        self._is_idle = all(job.done() for job in self._working)
        for job in self._working:
            if job.done():
                job.result()  # raises what the thread raised
        for query in self.queries:
            problem = query.exception()
            if problem is not None:
                reason = str(problem).partition("\n")[0]
                raise FailedError(f"The query {query.name} failed: {reason}")
        self._rows = traffic.progress(self._cluster, self._admin, self._drive, self._groups)
        self._bars.see(self._rows)


class _Bars:
    """A bar for each that works; bars of queries move when their groups do."""

    def __init__(self, console: Console, total: int, names: Collection[str]) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<20}"), BarColumn(32), TaskProgressColumn(),
            TextColumn("{task.fields[note]:<14}"), TimeElapsedColumn(), console=console,
        )  # fmt: skip
        self._tasks = {
            name: self._progress.add_task(
                name, total=None if name in topics.IN_SPARK else total,
                note="Spark starts" if name in topics.IN_SPARK else "",
            )
            for name in names
        }  # fmt: skip

    def __enter__(self) -> _Bars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def advance(self, name: str, count: int) -> None:
        self._progress.advance(self._tasks[name], count)

    def see(self, rows: Sequence[traffic.Progress]) -> None:
        for row in rows:
            changes: dict[str, Any] = {"note": f"lag {row.lag:,}"}
            if row.group in topics.IN_SPARK:
                changes |= {"completed": row.done, "total": row.end or None}
            self._progress.update(self._tasks[row.group], **changes)


def _service_faults(drive: traffic.Drive, services: Mapping[str, InOrder]) -> Iterator[str]:
    for group, service in services.items():
        if service.count != drive.position_count:
            yield f"{group} saw {service.count:,} positions of {drive.position_count:,}."
        if service.out_of_order:
            yield f"{group} saw {service.out_of_order:,} positions twice or out of order."


def _read_results(drive: traffic.Drive) -> results.Results:
    found = results.Results()
    for topic in (topics.SPEEDS, topics.STOPS, topics.SUMMARY):
        for value in traffic.records_of(drive, topic):
            found.add(topic, value)
    return found


def _draw(console: Console, image: Path, region: Any, found: results.Results) -> None:
    from barnabas.cli.barnabas.demo.picture import draw

    draw(image, region, found)
    console.print(f"The map is in {image.absolute()}.", soft_wrap=True)


def _praise(drive: traffic.Drive, with_pipeline: bool) -> str:
    readers = f"Both readers saw all {drive.position_count:,} positions, every truck's in order."
    if not with_pipeline:
        return readers
    return (
        f"{readers} The pipeline processed each exactly once: positions, stops and metres in "
        f"{topics.SPEEDS}, {topics.STOPS} and {topics.SUMMARY} agree with the trucks'."
    )
