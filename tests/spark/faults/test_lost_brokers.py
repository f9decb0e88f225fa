"""The broker dies and comes back on the same data while a query runs."""

from __future__ import annotations

from tests.spark.faults.conftest import Stage
from tests.spark.faults.pipeline import HOLD
from tests.spark.faults.test_killed_processes import wait_until_written


def test_a_broker_killed_in_the_middle_of_a_transaction_does_not_end_the_query(stage: Stage) -> None:
    with stage.pipeline(fault=HOLD) as query:
        query.wait_until_reached()
        wait_until_written(stage)
        stage.broker.kill()
        query.go()
        stage.broker.start()
        assert query.finish() == 0, query.tail()
    stage.check()
