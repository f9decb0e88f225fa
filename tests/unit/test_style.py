"""What the house agreed on and no linter checks: small files, small functions, nothing left for later, blame
that is precise, and handlers that say which versions they serve."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from barnabas.protocol.served import AMONG_BROKERS, SERVED, Served

ROOT = Path(__file__).parents[2]
ROOMS = ("src", "tests", "tools", "bench", "chaos", "examples")
SOURCES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
HANDLERS = ROOT / "src/barnabas/broker/handlers"

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
LEFT_FOR_LATER = re.compile(r"\b(TODO|FIXME|XXX)\b")
# Where anything may be caught and kept. A bug in a handler costs one connection, not all; in the simulation
# it is what is looked for; a worker's failure goes back, as a value, to who asked for the work.
MAY_CATCH_ALL = {
    "src/barnabas/runtime/receiving.py",
    "src/barnabas/runtime/workers.py",
    "src/barnabas/sim/host.py",
    "tests/support/members/polled.py",
}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def test_there_is_something_to_look_at() -> None:
    assert len(SOURCES) > 400


def test_no_file_is_long() -> None:
    lengths = {name(path): len(path.read_text().splitlines()) for path in SOURCES}
    assert {path: lines for path, lines in lengths.items() if lines > FILE_LINES_MAX} == {}


def test_no_function_is_long() -> None:
    long = {
        f"{name(path)}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path in SOURCES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > FUNCTION_LINES_MAX
    }
    assert long == {}


def test_nothing_is_left_for_later() -> None:
    found = [
        f"{name(path)}:{number}"
        for path in SOURCES
        if path != Path(__file__)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if LEFT_FOR_LATER.search(line)
    ]
    assert found == []


def test_nobody_swallows_every_exception() -> None:
    found = [
        f"{name(path)}:{handler.lineno}"
        for path in SOURCES
        if name(path) not in MAY_CATCH_ALL
        for handler in swallowing(tree(path))
    ]
    assert found == []


def swallowing(module: ast.Module) -> Iterator[ast.ExceptHandler]:
    """Handlers of everything that do not end by raising."""
    for node in ast.walk(module):
        if (
            isinstance(node, ast.ExceptHandler)
            and catches_all(node.type)
            and not isinstance(node.body[-1], ast.Raise)
        ):
            yield node


def catches_all(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(catches_all(one) for one in caught.elts)
    return caught is None or (isinstance(caught, ast.Name) and caught.id in {"Exception", "BaseException"})


def test_a_swallowed_exception_would_be_seen() -> None:
    text = "try:\n  f()\nexcept {}:\n  {}\n"
    seen = [("Exception", "pass"), ("(ValueError, BaseException)", "log()")]
    unseen = [("Exception", "raise"), ("ValueError", "pass")]
    assert all(list(swallowing(ast.parse(text.format(*one)))) for one in seen)
    assert not any(list(swallowing(ast.parse(text.format(*one)))) for one in unseen)


@pytest.mark.parametrize("served", SERVED.values(), ids=lambda served: served.module)
def test_a_handler_says_which_versions_it_serves(served: Served) -> None:
    header = ast.get_docstring(tree(HANDLERS / f"{served.module}.py")) or ""
    versions = {f"v{served.oldest}", f"v{served.newest}"}
    said = "–".join(sorted(versions, key=lambda version: int(version[1:])))
    assert re.match(rf"{served.name} {said}\b(?!–)", header), f"the header should begin: {served.name} {said}"


def test_every_handler_is_served() -> None:
    modules = {path.stem for path in HANDLERS.glob("*.py")} - {"__init__"}
    assert modules == {served.module for served in (*SERVED.values(), *AMONG_BROKERS.values())}
