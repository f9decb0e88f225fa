"""We advertise exactly what an Apache Kafka 4.3 broker advertises, for what we serve."""

from __future__ import annotations

import importlib
from pathlib import Path

from barnabas.protocol.served import SERVED


def kafka() -> dict[int, tuple[int, int]]:
    lines = Path(__file__).with_name("api_versions.txt").read_text().splitlines()
    rows = [tuple(map(int, line.split())) for line in lines if not line.startswith("#")]
    return {key: (oldest, newest) for key, oldest, newest in rows}


def test_every_served_api_has_kafkas_versions() -> None:
    ours = {row.key: (row.advertised_oldest, row.newest) for row in SERVED.values()}
    theirs = kafka()
    assert ours == {key: theirs[key] for key in ours}


def test_every_served_api_has_a_handler() -> None:
    for row in SERVED.values():
        assert callable(importlib.import_module(f"barnabas.broker.handlers.{row.module}").handle)
