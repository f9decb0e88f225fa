"""Topics are deleted while brokers are away."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.cluster.promises import CLUSTER_PROMISES


@blocks(150)
def test_a_deleted_topic_does_not_come_back(first_seed: int) -> None:
    hold(CLUSTER_PROMISES["cluster_deletion"], first_seed)
