"""docs/delivery.md shows what a crash costs: its programs crash as shown, and come back as shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.docs.pages import CHECKOUT, examples, write_programs

from barnabas.testing.plugin import StartBroker

PAGE = CHECKOUT / "docs" / "delivery.md"
SETTINGS = {"group.initial.rebalance.delay.ms": 0}
TIMEOUT_S = 60


def test_every_program_of_the_page_prints_what_is_shown(start_broker: StartBroker, tmp_path: Path) -> None:
    bootstrap = start_broker(SETTINGS).bootstrap
    write_programs(PAGE, tmp_path, bootstrap)
    for example in examples(PAGE):
        ran = subprocess.run(
            example.command.replace("localhost:9092", bootstrap),
            shell=True,
            cwd=tmp_path,
            env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert tuple(ran.stdout.splitlines()) == example.output, example.command


def test_the_page_shows_all_three_and_a_crash_of_each() -> None:
    commands = [example.command for example in examples(PAGE)]
    for name in ("at_most_once", "at_least_once", "exactly_once"):
        assert [f"python {name}.py 3 || echo crashed", f"python {name}.py never"] == [
            command for command in commands if name in command
        ]
