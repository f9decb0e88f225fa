"""The last replica standing dies without a clean stop: eligible leader replicas (KIP-966)."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.cluster.promises import CLUSTER_PROMISES


@blocks(150)
def test_the_last_replica_standing_cannot_lose_what_was_acknowledged(first_seed: int) -> None:
    hold(CLUSTER_PROMISES["cluster_last_replica"], first_seed)
