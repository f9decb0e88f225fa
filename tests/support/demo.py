"""`barnabas demo` as a user runs it, without the wait while trucks drive."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def demo(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("barnabas"), "demo", "--seconds", "0", *arguments],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        env={**os.environ, **environment},
    )
