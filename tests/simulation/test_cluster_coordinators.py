"""Coordinators fail over with their partitions."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.cluster.promises import CLUSTER_PROMISES


@blocks(75)
def test_a_group_loses_no_commit_when_its_coordinator_moves(first_seed: int) -> None:
    hold(CLUSTER_PROMISES["cluster_groups"], first_seed)


@blocks(75)
def test_a_transaction_is_whole_when_its_coordinator_moves(first_seed: int) -> None:
    hold(CLUSTER_PROMISES["cluster_transactions"], first_seed)


@blocks(50)
def test_every_record_has_one_result_when_coordinators_move(first_seed: int) -> None:
    hold(CLUSTER_PROMISES["cluster_exactly_once"], first_seed)
