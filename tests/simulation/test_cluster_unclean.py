"""One topic gives up records for being led at all: the others beside it lose nothing."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.cluster.promises import CLUSTER_PROMISES


@blocks(150)
def test_only_the_topic_that_allows_it_loses_records(first_seed: int) -> None:
    hold(CLUSTER_PROMISES["cluster_unclean"], first_seed)
