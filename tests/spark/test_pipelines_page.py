"""docs/pipelines.md keeps its word: its programs run as they stand and print what is shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.docs.pages import CHECKOUT, examples, write_programs

from barnabas.testing.plugin import StartBroker

PAGE = CHECKOUT / "docs" / "pipelines.md"
TIMEOUT_S = 180


def test_the_pipeline_of_the_page_runs_as_shown(start_broker: StartBroker, tmp_path: Path) -> None:
    bootstrap = start_broker().bootstrap
    write_programs(PAGE, tmp_path, bootstrap)
    for example in examples(PAGE):
        ran = subprocess.run(
            example.command.replace("localhost:9092", bootstrap),
            shell=True,
            cwd=tmp_path,
            env={"PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        # Spark's JVM has a word of its own for the terminal.
        assert tuple(ran.stdout.splitlines()) == example.output, (example.command, ran.stderr)
