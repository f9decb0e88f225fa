"""Power loss drops or tears what was not synced; with flush.messages=1 all that is acknowledged was."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.promises import POWER_LOSS


@blocks(600)
def test_nothing_acknowledged_is_lost_when_the_power_fails_if_records_are_flushed(first_seed: int) -> None:
    hold(POWER_LOSS, first_seed)
