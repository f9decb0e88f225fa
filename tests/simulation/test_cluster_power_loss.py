"""Machines forget what was not synced, one after the other: replicas are what keeps it."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.cluster.promises import CLUSTER_PROMISES


@blocks(450)
def test_who_has_forgotten_is_not_elected(first_seed: int) -> None:
    hold(CLUSTER_PROMISES["cluster_power_loss"], first_seed)
