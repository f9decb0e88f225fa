"""Power loss drops or tears what was not synced; with flush.messages=1 all that is acknowledged was."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.promises import POWER_LOSS


@blocks(600)
def test_what_was_flushed_and_acknowledged_survives_a_power_loss(first_seed: int) -> None:
    hold(POWER_LOSS, first_seed)
