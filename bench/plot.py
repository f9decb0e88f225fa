"""Ratios as a picture: how many times better or worse than the rival, one bar a figure, on a log scale."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, NullFormatter

_INCHES_PER_BAR = 0.24
_INCHES_AROUND = 1.1
_WIDTH_INCHES = 9.5
_MARGIN = 1.6
_BETTER, _WORSE = "#2a7f62", "#b5432a"
_MARKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)


def save_plot(path: Path, title: str, times_better: Mapping[str, float]) -> None:
    """Bars from top to bottom in the order given; above one is better."""
    matplotlib.rcParams["svg.hashsalt"] = path.stem  # the same picture is the same file
    drawing = Drawing(figsize=(_WIDTH_INCHES, _INCHES_AROUND + _INCHES_PER_BAR * len(times_better)))
    axes = drawing.add_subplot()
    places = list(range(len(times_better), 0, -1))
    _draw_bars(axes, places, list(times_better.values()))
    axes.set_yticks(places, list(times_better), fontsize=8)
    axes.set_ylim(0.3, len(places) + 0.7)
    _draw_scale(axes, min(0.5, *times_better.values()), max(2.0, *times_better.values()))
    axes.set_title(title, fontsize=10)
    drawing.savefig(path, bbox_inches="tight", metadata={"Date": None})


def _draw_bars(axes: Any, places: list[int], times: list[float]) -> None:
    colors = [_BETTER if each >= 1 else _WORSE for each in times]
    axes.barh(places, [each - 1 for each in times], left=1, height=0.7, color=colors)
    for place, each in zip(places, times, strict=True):
        is_right = each >= 1
        axes.annotate(
            f"{each:.2g}×" if each < 10 else f"{each:.0f}×",
            (each, place),
            xytext=(4 if is_right else -4, 0),
            textcoords="offset points",
            ha="left" if is_right else "right",
            va="center",
            fontsize=8,
        )


def _draw_scale(axes: Any, least: float, most: float) -> None:
    axes.set_xscale("log")
    axes.set_xlim(least / _MARGIN, most * _MARGIN)
    axes.set_xticks([mark for mark in _MARKS if least / _MARGIN <= mark <= most * _MARGIN])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda mark, _place: f"{mark:g}×"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.axvline(1, color="black", linewidth=0.8)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
