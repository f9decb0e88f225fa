"""One of three brokers is killed in the middle of a query's transaction, and nobody starts it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.spark.faults.conftest import Stage, prepared
from tests.spark.faults.pipeline import HOLD

from barnabas import testing
from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster
from barnabas.wire.admin import transactions

pytestmark = pytest.mark.slow


@pytest.fixture
def brokers(java: None, tmp_path: Path) -> Iterator[testing.Cluster]:
    with testing.Cluster(3, directory=tmp_path / "cluster") as started:
        yield started


def leader(cluster: Cluster, stage: Stage) -> int:
    """Of a partition that is written to."""
    grouped, _ = cluster.locate([TopicPartition(stage.target, 0)])
    return next(iter(grouped))


def transaction_coordinator(cluster: Cluster, stage: Stage) -> int:
    (ours,) = transactions.list_all(cluster)
    return ours.coordinator_id


def controller(cluster: Cluster, stage: Stage) -> int:
    return cluster.metadata([]).controller_id


@pytest.mark.parametrize("victim", [leader, transaction_coordinator, controller])
def test_a_broker_of_three_killed_in_the_middle_of_a_transaction_does_not_end_the_query(
    victim: Callable[[Cluster, Stage], int], brokers: testing.Cluster, tmp_path: Path
) -> None:
    stage = prepared(Stage(brokers.brokers[0], tmp_path, servers=brokers.bootstrap))
    with stage.pipeline(fault=HOLD) as query:
        query.wait_until_reached()
        stage.wait_until_written()
        with Cluster.connect(brokers.bootstrap) as cluster:
            broker_id = victim(cluster, stage)
        brokers.brokers[broker_id].kill()
        query.go()
        assert query.finish() == 0, query.tail()
    stage.check()
    brokers.brokers[broker_id].start()
    brokers.wait_until_whole()
    stage.fill(2_000, 2_500)
    stage.finish_and_check()
