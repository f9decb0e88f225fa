"""A frame whose rows are written by a Python worker that dies in the middle of it, without a word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from tests.support.waiting import eventually

from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster
from barnabas.wire.admin.offsets import Found, Spec, list_offsets

ROW_COUNT = 50_000  # Spark hands on ten thousand at a time


def until_its_writer_is_killed(spark: SparkSession, bootstrap: str, topic: str, reached: Path) -> DataFrame:
    """One task. Its rows come from a worker of their own, which waits until some of them are in the topic,
    and then kills all other workers of this Spark: `reached` is there from then on."""

    def feed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import os
        import signal
        import time

        import pyarrow as arrow

        from barnabas.model.ids import TopicPartition
        from barnabas.wire import Cluster
        from barnabas.wire.admin.offsets import Spec, list_offsets

        def children(pid: int) -> list[int]:
            tasks = Path(f"/proc/{pid}/task").glob("*/children")
            return [int(child) for task in tasks for child in task.read_text().split()]

        for _ in batches:
            yield arrow.RecordBatch.from_pydict({"value": ["a row of some bytes"] * ROW_COUNT})
        deadline = time.monotonic() + 60
        with Cluster.connect(bootstrap) as cluster:
            wanted = {TopicPartition(topic, 0): Spec.LATEST}
            while list_offsets(cluster, wanted)[TopicPartition(topic, 0)].offset == 0:  # type: ignore[union-attr]
                assert time.monotonic() < deadline, "nothing was written"
                time.sleep(0.05)
        reached.touch()
        java = int(Path(f"/proc/{os.getppid()}/stat").read_text().rsplit(")", maxsplit=1)[-1].split()[1])
        for daemon in children(java):
            for worker in children(daemon):
                if worker != os.getpid():
                    os.kill(worker, signal.SIGKILL)

    return spark.range(0, 1, 1, 1).mapInArrow(feed, "value string")


def wait_until_no_transaction_is_open(bootstrap: str, topic: str, partitions: int) -> None:
    wanted = {TopicPartition(topic, number): int(Spec.LATEST) for number in range(partitions)}
    with Cluster.connect(bootstrap) as cluster:
        eventually(lambda: _ends(cluster, wanted, True) == _ends(cluster, wanted, False))


def _ends(cluster: Cluster, wanted: dict[TopicPartition, int], read_committed: bool) -> list[int]:
    found = list_offsets(cluster, wanted, read_committed)
    return [row.offset for row in found.values() if isinstance(row, Found)]
