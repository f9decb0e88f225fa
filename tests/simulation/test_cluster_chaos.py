"""Everything that may go wrong in a cluster does, one thing upon the other."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.cluster.promises import CLUSTER_PROMISES


@blocks(75)
def test_nothing_acknowledged_is_lost_whatever_goes_wrong(first_seed: int) -> None:
    hold(CLUSTER_PROMISES["cluster_chaos"], first_seed)
