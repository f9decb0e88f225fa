"""Loads through librdkafka alone: the library that confluent-kafka brings along, driven by a small C program.

What Python adds to each record (confluent.py) is more than all that librdkafka does with it.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import confluent_kafka

from bench.apache_kafka import UnavailableError
from bench.compiling import compiled

SOURCE = Path(__file__).with_name("librdkafka.c")
TIMEOUT_S = 600


def run(*words: object) -> dict[str, float]:
    command = [str(_program()), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the librdkafka load failed: {done.stderr.strip()[-500:]}")
    times: dict[str, float] = json.loads(done.stdout)
    return times


def _program() -> Path:
    site = Path(confluent_kafka.__file__).parents[1]
    libraries = sorted((site / "confluent_kafka.libs").glob("librdkafka-*.so*"))
    if not libraries:
        raise UnavailableError("This confluent-kafka brings no librdkafka of its own: install its wheel.")
    library = libraries[0]
    # What the library itself needs it finds by itself.
    return compiled(SOURCE, str(library), f"-Wl,-rpath,{library.parent}", "-Wl,--allow-shlib-undefined")
