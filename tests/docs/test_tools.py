"""docs/tools.md is one session: every line works as shown, and every tool has a line."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

import pytest
from tests.docs.pages import CHECKOUT, TOOLS_PAGE, Example, Ran, examples, same_shape, session

from barnabas.java import JavaError, require

EXAMPLES = examples(TOOLS_PAGE)


@pytest.fixture(scope="module")
def typed() -> Iterator[list[Ran]]:
    """The whole page, typed once from top to bottom."""
    with session() as opened:
        yield [opened.run(example) for example in EXAMPLES]


@pytest.mark.parametrize("number", range(len(EXAMPLES)), ids=[one.command[:60] for one in EXAMPLES])
def test_a_line_of_the_page_works_and_prints_what_the_page_shows(typed: list[Ran], number: int) -> None:
    shown, ran = EXAMPLES[number], typed[number]
    if shown.command.startswith("zookeeper-"):
        needs_java()
    assert ran.code == 0, "\n".join(ran.output)
    assert same_shape(shown.output, ran.output), "\n".join((shown.command, *ran.output))


def needs_java() -> None:
    try:
        require(needed_by="ZooKeeper")
    except JavaError as missing:
        pytest.skip(str(missing))


def test_every_tool_is_on_the_page_and_has_a_twin_with_sh() -> None:
    scripts = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["scripts"]
    tools = {name for name in scripts if not name.endswith(".sh")}
    assert {f"{name}.sh" for name in tools - {"barnabas"}} == set(scripts) - tools
    typed_words = {word for example in EXAMPLES for word in example.command.split()}
    assert tools <= typed_words


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (("a 1",), ("a 22",), True),
        (("a 1",), ("b 1",), False),
        (("a 1",), ("a 1", "a 2"), False),
        (("first", "…", "last"), ("first", "x", "y", "last"), True),
        (("first", "…", "last"), ("first", "x", "y"), False),
        (("id Q33r87-mSBe6o2CarLvvSg",), ("id WkIPD0i0T6aH5xHkZubLUg",), True),
    ],
)
def test_shapes_differ_in_words_and_lines_but_not_in_numbers(
    shown: tuple[str, ...], printed: tuple[str, ...], same: bool
) -> None:
    assert same_shape(shown, printed) is same


def test_a_command_may_go_on_in_the_next_line() -> None:
    long = [example for example in EXAMPLES if "--reader-property" in example.command]
    assert long == [Example(long[0].command, ())]
    assert "\\\n" not in long[0].command
