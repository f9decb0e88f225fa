"""What is in vain is tried less and less; what succeeds, always."""

from __future__ import annotations

import random

import pytest

from barnabas.runtime.attempts import Attempts


def attempts_made(attempts: Attempts, chances: int, success: float, chance: random.Random) -> int:
    made = 0
    for _ in range(chances):
        if attempts.is_due():
            made += 1
            if chance.random() < success:
                attempts.succeeded()
            else:
                attempts.failed()
    return made


def test_the_first_chance_is_taken() -> None:
    assert Attempts().is_due()


@pytest.mark.parametrize(
    ("success", "least", "most"),
    [(0.0, 0.015, 0.02), (0.25, 0.015, 0.05), (0.9, 0.8, 1.0), (1.0, 0.99, 1.0)],
)
def test_what_usually_succeeds_is_usually_tried(success: float, least: float, most: float) -> None:
    chances = 20_000
    made = attempts_made(Attempts(), chances, success, random.Random(3))
    assert least <= made / chances <= most


@pytest.mark.parametrize(("before", "after"), [(0.0, 1.0), (1.0, 0.0)])
def test_a_change_is_noticed_within_a_few_hundred_chances(before: float, after: float) -> None:
    attempts, chance = Attempts(), random.Random(4)
    attempts_made(attempts, 10_000, before, chance)
    attempts_made(attempts, 200, after, chance)
    made = attempts_made(attempts, 640, after, chance)
    assert made == (640 if after else 10)
