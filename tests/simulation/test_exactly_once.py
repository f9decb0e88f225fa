"""Consume, transform, produce: one result for every record, whatever dies and comes back."""

from __future__ import annotations

from tests.simulation.seeds import blocks, every_step, hold

from barnabas.sim.promises import PROMISES


@blocks(150)
def test_every_record_has_one_result_whoever_is_killed(first_seed: int) -> None:
    hold(PROMISES["exactly_once"], first_seed)


@blocks(100)
def test_every_record_has_one_result_when_the_power_fails(first_seed: int) -> None:
    hold(PROMISES["exactly_once_power_loss"], first_seed)


@every_step(PROMISES["exactly_once_every_step"], story=8)
def test_every_record_has_one_result_after_a_crash_at_every_step(first_seed: int) -> None:
    hold(PROMISES["exactly_once_every_step"], first_seed)
