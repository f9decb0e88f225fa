"""docs/cluster.md is one session: the lines of its first chapter work as shown."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.pages import CHECKOUT, Example, Ran, examples, same_shape

from barnabas.java import JavaError, require
from barnabas.testing import free_port

EXAMPLES = examples(CHECKOUT / "docs" / "cluster.md")
_START = "barnabas cluster start --brokers 3"
_TIMEOUT_S = 120


class Cluster:
    """The page's ports are the usual ones; here they are four free ones in a row, and another."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._first = free_port(5)  # the page counts on
        self._zookeeper = free_port()

    def run(self, example: Example) -> Ran:
        command = example.command.replace(
            _START, f"{_START} --port {self._first} --zookeeper-port {self._zookeeper}"
        )
        ran = subprocess.run(
            re.sub(r"127\.0\.0\.1:909(\d)", lambda found: f"127.0.0.1:{self._port(found[1])}", command),
            shell=True,
            cwd=self._folder,
            env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(self._folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        return Ran(ran.returncode, tuple(ran.stdout.rstrip("\n").splitlines()))

    def _port(self, digit: str) -> int:
        return self._first + int(digit) - 2


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Ran]]:
    try:
        require(needed_by="ZooKeeper")
    except JavaError as missing:
        pytest.skip(str(missing))
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield [cluster.run(example) for example in EXAMPLES]
    finally:
        # Also when a line in the middle failed: nothing stays behind.
        cluster.run(Example("barnabas cluster stop --data cluster", ()))


@pytest.mark.parametrize("number", range(len(EXAMPLES)), ids=[one.command[:60] for one in EXAMPLES])
def test_a_line_of_the_page_works_and_prints_what_the_page_shows(typed: list[Ran], number: int) -> None:
    shown, ran = EXAMPLES[number], typed[number]
    assert ran.code == 0, "\n".join(ran.output)
    assert same_shape(shown.output, ran.output), "\n".join((shown.command, *ran.output))
