"""The broker dies and comes back on the same data while a query runs."""

from __future__ import annotations

import time

import pytest
from tests.spark.faults.conftest import PARTITIONS, RECORDS, Stage
from tests.spark.faults.pipeline import HOLD

AWAY_S = 15  # longer than a first contact may take, shorter than a running query's patience


def test_a_broker_killed_in_the_middle_of_a_transaction_does_not_end_the_query(stage: Stage) -> None:
    with stage.pipeline(fault=HOLD) as query:
        query.wait_until_reached()
        stage.wait_until_written()
        stage.broker.kill()
        query.go()
        stage.broker.start()
        assert query.finish() == 0, query.tail()
    stage.check()


@pytest.mark.slow
def test_a_query_that_waits_for_records_outlasts_a_broker_that_is_away(stage: Stage) -> None:
    with stage.pipeline(endless=True) as query:
        expected = RECORDS * PARTITIONS
        stage.wait_until_committed(expected, query)
        stage.broker.kill()
        time.sleep(AWAY_S)
        stage.broker.start()
        stage.fill(RECORDS, RECORDS + 500)
        expected += 500 * PARTITIONS
        stage.wait_until_committed(expected, query)
        query.stop()
        assert query.finish() == 0, query.tail()
    stage.check()
