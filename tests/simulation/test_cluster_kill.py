"""Brokers die, the controller and the leader that is ahead of the others among them."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.cluster.promises import CLUSTER_PROMISES


@blocks(550)
def test_what_all_in_sync_replicas_acknowledged_survives_kills(first_seed: int) -> None:
    hold(CLUSTER_PROMISES["cluster_kill"], first_seed)
