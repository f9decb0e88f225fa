"""Every command line of the notes does what `seeds.toml` says of it."""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Broker, RunTool

LINES: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "seeds.toml").read_text())["line"]
RUNNABLE = [line for line in LINES if "run" in line]
OUTCOMES = {"works", "kafka-error", "typing-error", "later"}


@pytest.mark.parametrize("line", RUNNABLE, ids=[line["seed"] for line in RUNNABLE])
def test_the_line_is_answered_as_promised(
    line: dict[str, Any], broker: Broker, prefix: str, run_tool: RunTool, request: pytest.FixtureRequest
) -> None:
    connect = request.getfixturevalue("broker_on_zookeeper") if "{zookeeper}" in line["run"] else ""
    check_line(line, broker.bootstrap, connect, prefix, run_tool)


def check_line(
    line: dict[str, Any],
    server: str,
    zookeeper: str,
    prefix: str,
    run_tool: RunTool,
    settle: Callable[[], None] = lambda: None,
) -> None:
    """Where there are several brokers, `settle` waits after each line until all know what it did."""

    def words(text: str) -> list[str]:
        placed = text.replace("{server}", server).replace("{zookeeper}", zookeeper)
        return shlex.split(placed.replace("{p}", prefix))

    _need_module(words(line["run"])[0])
    for earlier in line.get("before", ()):
        assert run_tool(*words(earlier)).code == 0, earlier
        settle()
    outcome = run_tool(*words(line["run"]), stdin=line.get("stdin", ""))
    assert outcome.code == line["code"], outcome
    for stream in ("stdout", "stderr"):
        if stream in line:
            _match_lines(getattr(outcome, stream), line[stream], prefix)
    for wanted in line.get("stdout_has", ()):
        assert wanted.replace("{p}", prefix) in outcome.stdout.splitlines()


def test_every_line_has_an_outcome_and_is_run_or_says_why_not() -> None:
    for line in LINES:
        assert line["outcome"] in OUTCOMES, line
        assert "run" in line or "why_not_run" in line or line["outcome"] == "later", line
        assert (line["outcome"] == "later") <= ("issue" in line), line


def test_no_line_is_listed_twice() -> None:
    places = [line["seed"] for line in LINES]
    assert len(places) == len(set(places))


def _need_module(script: str) -> None:
    module = "barnabas.cli." + script.removesuffix(".sh").replace("-", "_")
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not part of this checkout")


def _match_lines(text: str, patterns: list[str], prefix: str) -> None:
    lines = text.splitlines()
    open_ended = patterns[-1:] == [".*"]
    expected = patterns[:-1] if open_ended else patterns
    assert len(lines) == len(expected) or (open_ended and len(lines) > len(expected)), text
    for got, pattern in zip(lines, expected, strict=False):
        assert re.fullmatch(pattern.replace("{p}", re.escape(prefix)), got), (got, pattern)
