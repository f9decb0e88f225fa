"""The list of scenarios: functions that hold a dialogue with a broker, whichever it is."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable
from typing import TypeAlias

from tests.support.answers.dialogue import Dialogue, Transcript

Scenario: TypeAlias = Callable[[Dialogue], None]
SCENARIOS: dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    SCENARIOS[function.__name__] = function
    return function


def load() -> dict[str, Scenario]:
    from tests.support.answers import scenarios

    for module in pkgutil.iter_modules(scenarios.__path__):
        importlib.import_module(f"{scenarios.__name__}.{module.name}")
    return SCENARIOS


def run(name: str, port: int) -> Transcript:
    # Names are of equal length in every run, so that the sizes of what holds them are equal, too.
    dialogue = Dialogue(port, f"z{os.urandom(4).hex()}-")
    try:
        SCENARIOS[name](dialogue)
    finally:
        dialogue.close()
    return dialogue.transcript
