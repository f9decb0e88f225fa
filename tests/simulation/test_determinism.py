"""A seed is a whole story: the same one gives the same history, also in another process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

from barnabas.sim.catalogue import CATALOGUE, play
from barnabas.sim.history import Fault, Happened
from barnabas.sim.promise import Promise

_STORY = """
import hashlib, sys
from barnabas.sim.catalogue import CATALOGUE, play
for name, promise in CATALOGUE.items():
    for seed in range(3):
        told = "\\n".join(map(repr, play(promise, seed).history.events))
        print(name, seed, hashlib.sha256(told.encode()).hexdigest())
"""


def _told_by_another_process(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", _STORY], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_seed_tells_the_same_story_in_every_process() -> None:
    one, other = _told_by_another_process("1"), _told_by_another_process("2")
    assert one == other
    assert len(set(one.split())) > 3 * len(CATALOGUE)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_different_seeds_tell_different_stories(name: str) -> None:
    stories = {
        hashlib.sha256(repr(play(CATALOGUE[name], seed).history.events).encode()).hexdigest()
        for seed in range(0, 600, 200)  # steps next to each other may be the same moment
    }
    assert len(stories) == 3


@pytest.mark.parametrize("name", ["groups_every_step", "transactions_every_step", "exactly_once_every_step"])
def test_the_broker_dies_at_the_step_that_the_seed_names(name: str) -> None:
    promise = CATALOGUE[name]
    assert isinstance(promise, Promise)
    assert promise.every_step is not None
    for story in range(2):
        for step in (0, 10, 20):
            events = play(promise, story * promise.every_step.steps + step).history.events
            kills = [event for _, event in events if event == Happened(Fault.KILL, "")]
            assert len(kills) == 2  # at the step, and at the end
