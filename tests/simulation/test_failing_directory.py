"""A full or broken disk takes its own partitions offline."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.promises import FAILING_DIRECTORY


@blocks(300)
def test_a_failing_directory_takes_only_its_own_partitions_offline(first_seed: int) -> None:
    hold(FAILING_DIRECTORY, first_seed)
