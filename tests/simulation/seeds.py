"""Seeds in blocks: one test per block, and a failing seed prints the command that replays it."""

from __future__ import annotations

import pytest

from barnabas.sim.catalogue import play
from barnabas.sim.cluster.promise import ClusterPromise
from barnabas.sim.promise import Promise

_BLOCK = 25


def blocks(count: int) -> pytest.MarkDecorator:
    starts = range(0, count, _BLOCK)
    return pytest.mark.parametrize("first_seed", starts, ids=[f"{at}-{at + _BLOCK - 1}" for at in starts])


def every_step(promise: Promise, story: int, stories: int = 3) -> pytest.MarkDecorator:
    """The seeds of some stories: a crash at the first step of each, at its second, and so on to its end."""
    assert promise.every_step is not None
    steps = promise.every_step.steps
    starts = range(story * steps, (story + stories) * steps, _BLOCK)
    return pytest.mark.parametrize("first_seed", starts, ids=[f"{at}-{at + _BLOCK - 1}" for at in starts])


def hold(promise: Promise | ClusterPromise, first_seed: int) -> None:
    for seed in range(first_seed, first_seed + _BLOCK):
        outcome = play(promise, seed)
        assert not outcome.violations, str(outcome)


def first_broken_seed(promise: Promise | ClusterPromise, checker: str, seeds: int) -> int | None:
    """The first seed at which this checker finds something."""
    for seed in range(seeds):
        if any(violation.startswith(f"{checker}:") for violation in play(promise, seed).violations):
            return seed
    return None
