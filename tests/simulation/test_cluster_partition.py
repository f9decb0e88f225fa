"""Brokers are cut off from each other and from the ensemble."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.cluster.promises import CLUSTER_PROMISES


@blocks(650)
def test_a_cut_off_broker_neither_loses_nor_invents(first_seed: int) -> None:
    hold(CLUSTER_PROMISES["cluster_partition"], first_seed)
