"""Compaction swaps segments while the machine crashes."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.promises import COMPACTION


@blocks(200)
def test_the_last_value_of_every_key_survives_crashes_during_compaction(first_seed: int) -> None:
    hold(COMPACTION, first_seed)
