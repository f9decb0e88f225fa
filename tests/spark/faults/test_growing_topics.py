"""Partitions that come while the query runs."""

from __future__ import annotations

import pytest
from tests.spark.faults import topics
from tests.spark.faults.conftest import PARTITIONS, RECORDS, TARGET_PARTITIONS, Stage

pytestmark = pytest.mark.slow


def test_a_running_query_reads_and_writes_partitions_that_are_added(stage: Stage) -> None:
    with stage.pipeline(endless=True) as query:
        expected = RECORDS * PARTITIONS
        stage.wait_until_committed(expected, query)
        topics.grow(stage.bootstrap, stage.source, PARTITIONS + 2)
        topics.grow(stage.bootstrap, stage.target, TARGET_PARTITIONS + 2)
        stage.fill(RECORDS, RECORDS + 500, PARTITIONS + 2)
        expected += 500 * (PARTITIONS + 2)
        stage.wait_until_committed(expected, query)
        query.stop()
        assert query.finish() == 0, query.tail()
    stage.check()
    used = {row.partition for row in topics.read(stage.bootstrap, stage.target, committed=True)}
    assert used == set(range(TARGET_PARTITIONS + 2))
