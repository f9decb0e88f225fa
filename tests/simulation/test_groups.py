"""Consumer groups of both protocols, while their members and the broker come and go."""

from __future__ import annotations

from tests.simulation.seeds import blocks, every_step, hold

from barnabas.sim.promises import PROMISES


@blocks(200)
def test_a_group_loses_no_commit_and_settles_whoever_is_killed(first_seed: int) -> None:
    hold(PROMISES["groups"], first_seed)


@blocks(100)
def test_a_group_loses_no_commit_and_settles_when_the_power_fails(first_seed: int) -> None:
    hold(PROMISES["groups_power_loss"], first_seed)


@every_step(PROMISES["groups_every_step"], story=4)
def test_a_group_loses_no_commit_and_settles_after_a_crash_at_every_step(first_seed: int) -> None:
    hold(PROMISES["groups_every_step"], first_seed)
