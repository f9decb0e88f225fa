"""Load generators in C: compiled once per source and flags."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import threading
from pathlib import Path

from bench.apache_kafka import CHECKOUT, UnavailableError


def compiled(source: Path, *flags: str) -> Path:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise UnavailableError(
            f"A C compiler is missing for the load in {source.name}: apt-get install gcc libc6-dev."
        )
    key = hashlib.sha256(source.read_bytes() + "\0".join(flags).encode()).hexdigest()[:12]
    program = CHECKOUT / ".cache" / f"{source.stem}-{key}"
    if not program.exists():
        program.parent.mkdir(exist_ok=True)
        # Two clients of one load may come at once: each finds no program or a whole one.
        unfinished = program.with_name(f"{program.name}-{threading.get_native_id()}")
        command = [compiler, "-O2", "-o", str(unfinished), str(source), *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UnavailableError(f"{source.name} does not compile here: {done.stderr.strip()[-300:]}")
        unfinished.replace(program)
    return program
