"""A broker, an input topic and an output topic for one fault; each on our broker and on Apache Kafka."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from bench.apache_kafka import ApacheKafka
from tests.spark.faults import topics
from tests.spark.faults.pipeline import Plan
from tests.spark.faults.processes import PATIENCE_S, Pipeline
from tests.support.waiting import eventually

from barnabas.testing import Broker, BrokerProcess

RECORDS = 2_000  # of each of two partitions: two batches
PARTITIONS = 2
TARGET_PARTITIONS = 3


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.timeout(900))  # each starts Spark more than once


@dataclass
class Stage:
    broker: BrokerProcess
    folder: Path
    source: str = "in"
    target: str = "out"
    servers: str | None = None  # of a cluster; else the broker's own
    _runs: Iterator[int] = field(default_factory=itertools.count)

    @property
    def bootstrap(self) -> str:
        return self.servers or self.broker.bootstrap

    def pipeline(self, **more: Any) -> Pipeline:
        """Another run of the same query: the checkpoint stays."""
        folder = str(self.folder / f"run-{next(self._runs)}")
        checkpoint = str(self.folder / "checkpoint")
        return Pipeline(Plan(self.bootstrap, self.source, self.target, checkpoint, folder, **more))

    def fill(self, start: int, stop: int, partitions: int = PARTITIONS) -> None:
        topics.fill(self.bootstrap, self.source, partitions, range(start, stop))

    def record_count(self, *, committed: bool) -> int:
        return len(topics.read(self.bootstrap, self.target, committed=committed))

    def is_transaction_open(self) -> bool:
        """With records in the log."""
        whole, committed = (
            topics.ends(self.bootstrap, self.target, committed=flag) for flag in (False, True)
        )
        return whole != committed

    def check(self) -> None:
        topics.check_exactly_once(self.bootstrap, self.source, self.target)

    def wait_until_written(self) -> None:
        """By a transaction that is still open."""
        eventually(self.is_transaction_open, PATIENCE_S)

    def wait_until_committed(self, count: int, query: Pipeline) -> None:
        eventually(lambda: self.record_count(committed=True) >= count or not query.is_running(), PATIENCE_S)

    def finish_and_check(self, **more: Any) -> None:
        """A restart without faults, then the comparison."""
        with self.pipeline(**more) as restarted:
            assert restarted.finish() == 0, restarted.tail()
        self.check()


@pytest.fixture(params=["barnabas", pytest.param("apache", marks=pytest.mark.slow)])
def stage(request: pytest.FixtureRequest, java: None, tmp_path: Path) -> Iterator[Stage]:
    broker: BrokerProcess
    if request.param == "apache":
        request.getfixturevalue("apache_kafka_libraries")
        broker = ApacheKafka(heap_options=("-Xmx512m", "-XX:+UseSerialGC"), directory=tmp_path / "broker")
    else:
        broker = Broker(directory=tmp_path / "broker")
    with broker:
        yield prepared(Stage(broker, tmp_path))


def prepared(stage: Stage) -> Stage:
    topics.create(stage.bootstrap, stage.source, PARTITIONS)
    topics.create(stage.bootstrap, stage.target, TARGET_PARTITIONS)
    stage.fill(0, RECORDS)
    return stage
