"""The tools as people start them: console scripts in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SCRIPTS = Path(sys.executable).parent
TIMEOUT_S = 120
# Nobody listens on the discard port of the loopback.
NOWHERE = "127.0.0.1:9"


class Outcome(NamedTuple):
    code: int
    stdout: str
    stderr: str


def tool(*words: object, stdin: str = "", cwd: Path | None = None) -> Outcome:
    name, *arguments = map(str, words)
    done = subprocess.run(
        [str(SCRIPTS / name), *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        cwd=cwd,
        env=os.environ | {"TZ": "UTC"},
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def start_tool(*words: object) -> subprocess.Popen[str]:
    name, *arguments = map(str, words)
    return subprocess.Popen(
        [str(SCRIPTS / name), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
