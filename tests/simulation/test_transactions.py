"""Transactions of both versions: late requests, zombies, and a broker that dies in the middle."""

from __future__ import annotations

from tests.simulation.seeds import blocks, every_step, hold

from barnabas.sim.promises import PROMISES


@blocks(300)
def test_transactions_are_all_or_nothing_whoever_is_killed(first_seed: int) -> None:
    hold(PROMISES["transactions"], first_seed)


@blocks(100)
def test_transactions_are_all_or_nothing_when_the_power_fails(first_seed: int) -> None:
    hold(PROMISES["transactions_power_loss"], first_seed)


@every_step(PROMISES["transactions_every_step"], story=3)
def test_transactions_are_all_or_nothing_after_a_crash_at_every_step(first_seed: int) -> None:
    hold(PROMISES["transactions_every_step"], first_seed)
