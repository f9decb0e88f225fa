"""The list of scenarios: functions that hold a dialogue with a broker, whichever it is."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable
from typing import TypeAlias

from tests.support.answers import golden
from tests.support.answers.dialogue import Dialogue, Transcript

Scenario: TypeAlias = Callable[[Dialogue], None]
SCENARIOS: dict[str, Scenario] = {}

# Brokers of three kinds: as they come, with settings that change answers, and with groups, whose topics the
# others must not find.
USUAL = "usual"
UNUSUAL = "unusual"
GROUPS = "groups"
SETTINGS: dict[str, dict[str, object]] = {
    USUAL: {},
    UNUSUAL: {
        "auto.create.topics.enable": False,
        "delete.topic.enable": False,
        "num.partitions": 3,
        "min.insync.replicas": 2,
        "message.max.bytes": 3000,
        "fetch.max.bytes": 2000,
        "socket.request.max.bytes": 100_000,
        "max.request.partition.size.limit": 4,
        "max.incremental.fetch.session.cache.slots": 0,
        "log.message.timestamp.type": "LogAppendTime",
        "log.retention.hours": 5,
        "log.segment.bytes": 1_500_000,
        "compression.type": "uncompressed",
    },
    GROUPS: {"group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 5},
}
_NEEDS: dict[str, str] = {}
_MOMENTARY: set[str] = set()
_TRIES = 5


def scenario(function: Scenario) -> Scenario:
    SCENARIOS[function.__name__] = function
    return function


def momentary(function: Scenario) -> Scenario:
    """It asks what is answered while something has not happened yet, which a broker does by its clock."""
    _MOMENTARY.add(function.__name__)
    return scenario(function)


def on_unusual(function: Scenario) -> Scenario:
    _NEEDS[function.__name__] = UNUSUAL
    return scenario(function)


def with_groups(function: Scenario) -> Scenario:
    _NEEDS[function.__name__] = GROUPS
    return scenario(function)


def settings_of(name: str) -> str:
    """Which of SETTINGS the scenario's broker has."""
    return _NEEDS.get(name, USUAL)


def load() -> dict[str, Scenario]:
    from tests.support.answers import scenarios

    for module in pkgutil.iter_modules(scenarios.__path__):
        importlib.import_module(f"{scenarios.__name__}.{module.name}")
    return SCENARIOS


def run(name: str, port: int, is_right: Callable[[Transcript], bool] = lambda _: True) -> Transcript:
    """What is about moments is told again where it is not right: the machine may have been too slow."""
    transcript = _run(name, port)
    for _ in range(_TRIES - 1):
        if name not in _MOMENTARY or is_right(transcript):
            break
        transcript = _run(name, port)
    return transcript


def _run(name: str, port: int) -> Transcript:
    # Names are of equal length in every run, so that the sizes of what holds them are equal, too.
    dialogue = Dialogue(port, f"z{os.urandom(4).hex()}-")
    try:
        SCENARIOS[name](dialogue)
    finally:
        dialogue.close()
    return golden.plain(dialogue.transcript)
