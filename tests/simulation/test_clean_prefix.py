"""Without a flush, power loss may take the end of a log, and nothing else."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.promises import CLEAN_PREFIX


@blocks(400)
def test_power_loss_without_a_flush_leaves_a_clean_prefix(first_seed: int) -> None:
    hold(CLEAN_PREFIX, first_seed)
