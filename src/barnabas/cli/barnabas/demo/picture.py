"""The map and the summary as one image."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from barnabas.cli.barnabas.demo.geography import degrees_of
from barnabas.cli.barnabas.demo.motion import Stop
from barnabas.cli.barnabas.demo.results import Results, Speed, Window, stops_by_place, worth_showing
from barnabas.cli.barnabas.demo.roads import Network

_TRACKS = 8
_GROUND, _ROADS, _INK, _FAINT = "#fbfaf7", "#d9d5cb", "#33312c", "#8a867c"
_SPEED_COLOUR, _STOP_COLOUR = "#1f6f8b", "#c8553d"
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _FAINT,
    "xtick.color": _FAINT,
    "ytick.color": _FAINT,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_LEGEND = "      ".join(
    [
        "■ depot",
        "○ a stop of a truck shown, larger when longer",
        "● where that truck is now",
        "red: stops of all trucks",
    ]
)


def draw(path: Path, region: Network, results: Results) -> None:
    import matplotlib as mpl

    mpl.use("Agg")  # a file, on a machine that may have no screen
    from matplotlib import pyplot

    with mpl.rc_context(_STYLE):
        figure = pyplot.figure(figsize=(13, 5.9), layout="constrained", facecolor="white")
        places = figure.subplot_mosaic("MS\nMT", width_ratios=[1.8, 1])
        shown = worth_showing(results)[:_TRACKS]
        _map(places["M"], region, results, shown)
        _summary(places["S"], sorted(results.windows.values()))
        if shown:
            stops = [stop for truck, stop in results.stops if truck == shown[0]]
            _one_truck(places["T"], shown[0], _in_time(results.speeds[shown[0]]), stops)
        figure.savefig(path, dpi=130)
        pyplot.close(figure)


def _map(axes: Any, region: Network, results: Results, shown: Sequence[str]) -> None:
    for roads in region.roads:
        for road in roads:
            _line(axes, [degrees_of(point) for point in road.points], color=_ROADS, linewidth=2.2, zorder=1)
    _everybodys_stops(axes, results)
    colours = _colours(len(shown))
    for truck, colour in zip(shown, colours, strict=True):
        track = [speed.position for speed in _in_time(results.speeds[truck])]
        _line(axes, track, color=colour, linewidth=1.6, zorder=4)
        axes.plot(track[-1].longitude, track[-1].latitude, "o", color=colour, markersize=4.5, zorder=6)
        axes.annotate(truck, (track[-1].longitude, track[-1].latitude), xytext=(5, 4), fontsize=8,
                      textcoords="offset points", color=colour, zorder=7, path_effects=_halo())  # fmt: skip
        _stop_rings(axes, [stop for name, stop in results.stops if name == truck], colour)
    depots = [degrees_of(region.junctions[depot]) for depot in region.depots]
    axes.plot([depot.longitude for depot in depots], [depot.latitude for depot in depots], "s", color=_INK,
              markersize=6, zorder=6)  # fmt: skip
    _map_frame(axes, len(results.speeds), len(results.stops))


def _everybodys_stops(axes: Any, results: Results) -> None:
    places = stops_by_place(results.stops)
    axes.scatter(
        [place.longitude for place, _ in places],
        [place.latitude for place, _ in places],
        s=[3 * count for _, count in places],
        color=_STOP_COLOUR,
        alpha=0.35,
        linewidths=0,
        zorder=2,
    )


def _map_frame(axes: Any, trucks: int, stops: int) -> None:
    axes.set_title(f"{trucks:,} trucks, {stops:,} stops: where they stood, and the tracks of some")
    axes.set_facecolor(_GROUND)
    axes.set_aspect(1.5)  # a degree of longitude is shorter here than one of latitude
    axes.set_xlabel("longitude")
    axes.set_ylabel("latitude")
    axes.text(0, -0.13, _LEGEND, transform=axes.transAxes, color=_FAINT)


def _stop_rings(axes: Any, stops: Sequence[Stop], colour: Any) -> None:
    axes.scatter(
        [stop.longitude for stop in stops], [stop.latitude for stop in stops],
        s=[25 + stop.seconds / 3 for stop in stops], facecolors="white", edgecolors=[colour],
        linewidths=1.6, zorder=5,
    )  # fmt: skip


def _summary(axes: Any, windows: Sequence[Window]) -> None:
    axes.set_title("fleet_summary: a record per five minutes")
    times = [_clock(window.since_ms) for window in windows]
    shares = [100 * window.moving / max(1, window.moving + window.standing) for window in windows]
    axes.bar(times, shares, width=0.62, color=_ROADS, label="driving, % of positions")
    axes.plot(times, [window.mean_speed_kmh for window in windows], "o-", color=_SPEED_COLOUR,
              label="their mean speed, km/h")  # fmt: skip
    for time, window in zip(times, windows, strict=True):
        axes.annotate(f"{window.mean_speed_kmh:.0f}", (time, window.mean_speed_kmh), xytext=(0, 6),
                      textcoords="offset points", ha="center", color=_SPEED_COLOUR)  # fmt: skip
    axes.set_ylim(0, 125)
    axes.legend(loc="upper left", frameon=False, ncols=2, fontsize=8, reverse=True)
    axes.tick_params(axis="x", labelrotation=0 if len(times) < 10 else 60)


def _one_truck(axes: Any, truck: str, speeds: Sequence[Speed], stops: Sequence[Stop]) -> None:
    axes.set_title(f"{truck}: speed, and its stops")
    start_ms = speeds[0].time_ms
    for stop in stops:
        begin = (stop.since_ms - start_ms) / 60_000
        axes.axvspan(begin, begin + stop.seconds / 60, color=_STOP_COLOUR, alpha=0.18, linewidth=0)
    known = [row for row in speeds if row.speed_kmh is not None]
    minutes = [(row.time_ms - start_ms) / 60_000 for row in known]
    axes.step(minutes, [row.speed_kmh for row in known], where="pre", color=_SPEED_COLOUR, linewidth=1.4)
    axes.set_xlabel("minutes since it was seen first")
    axes.set_ylabel("km/h")
    axes.set_ylim(bottom=0)
    axes.margins(x=0.01)


def _line(axes: Any, places: Sequence[Any], **style: Any) -> None:
    axes.plot(
        [place.longitude for place in places],
        [place.latitude for place in places],
        solid_capstyle="round",
        solid_joinstyle="round",
        **style,
    )


def _colours(count: int) -> list[Any]:
    from matplotlib import colormaps

    return [colormaps["tab10"](number % 10) for number in range(count)]


def _halo() -> list[Any]:
    from matplotlib import patheffects

    return [patheffects.withStroke(linewidth=2.5, foreground="white")]


def _in_time(speeds: Sequence[Speed]) -> list[Speed]:
    return sorted(speeds, key=lambda row: row.number)


def _clock(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%H:%M")
