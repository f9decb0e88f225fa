"""Sessions end, processes sleep, controllers are deposed."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.cluster.promises import CLUSTER_PROMISES


@blocks(450)
def test_no_zombie_is_believed(first_seed: int) -> None:
    hold(CLUSTER_PROMISES["cluster_sessions"], first_seed)
