"""Processes that die without a word, and what the output is after a restart: every record once, in order."""

from __future__ import annotations

import os
import random

import pytest
from tests.spark.faults.conftest import Stage
from tests.spark.faults.pipeline import HOLD, HOLD_AFTER_END
from tests.spark.faults.processes import PATIENCE_S, Pipeline, kill
from tests.support.waiting import eventually

KILLS = int(os.environ.get("BARNABAS_KILLS", "4"))


def test_after_kill_of_the_driver_its_last_worker_writes_nothing_more(stage: Stage) -> None:
    """The JVM is gone in the middle of a batch, the query is restarted and done, and only then a worker of
    its first life goes on, which nobody was left to kill."""
    with stage.pipeline(fault=HOLD) as first:
        worker = first.wait_until_reached()
        stage.wait_until_written()
        first.leave_alone(worker)
        stage.finish_and_check()
        count = stage.record_count(committed=False)
        first.go()
        assert first.wait_for_report()["is_fenced"]
        assert stage.record_count(committed=False) == count
        stage.check()


def test_after_a_crash_between_the_transaction_and_the_commit_log_the_batch_is_skipped(stage: Stage) -> None:
    with stage.pipeline(fault=HOLD_AFTER_END, at_batch=1) as first:
        first.wait_until_reached()
        first.kill()
    written = stage.record_count(committed=False)
    assert written == stage.record_count(committed=True)
    assert not (stage.folder / "checkpoint" / "commits" / "1").exists()
    stage.finish_and_check()
    assert stage.record_count(committed=False) == written, "the batch was written again"


@pytest.mark.slow
def test_a_driver_whose_jvm_is_killed_ends_and_does_not_disturb_its_successor(stage: Stage) -> None:
    with stage.pipeline(fault=HOLD) as first:
        first.wait_until_reached()
        stage.wait_until_written()
        first.kill_java()
        stage.finish_and_check()
        assert first.finish() != 0


@pytest.mark.slow
def test_kill_of_the_worker_that_writes_costs_an_attempt_and_not_the_query(stage: Stage) -> None:
    with stage.pipeline(fault=HOLD) as query:
        worker = query.wait_until_reached()
        stage.wait_until_written()
        kill(worker)
        assert query.finish() == 0, query.tail()
    stage.check()
    assert stage.record_count(committed=False) > stage.record_count(committed=True)


@pytest.mark.slow
def test_after_kill_of_the_process_that_plans_a_restart_finishes(stage: Stage) -> None:
    with stage.pipeline(fault=HOLD) as query:
        query.wait_until_reached()
        kill(query.planner())
        query.go()
        query.finish()
    stage.finish_and_check()


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_whenever_the_driver_is_killed_nothing_is_lost_or_doubled(stage: Stage) -> None:
    seed = int(os.environ.get("BARNABAS_SEED", random.randrange(1 << 32)))
    print(f"replay with BARNABAS_SEED={seed}")
    chance = random.Random(seed)
    for number in range(1, KILLS + 1):
        stage.fill(2_000 * number, 2_000 * (number + 1))
        enough = stage.record_count(committed=False) + chance.randrange(1, 3_000)
        with stage.pipeline(max_offsets=1_000) as query:
            wait_until_written_or_ended(stage, query, enough)
            query.kill()
    stage.finish_and_check()


def wait_until_written_or_ended(stage: Stage, query: Pipeline, count: int) -> None:
    eventually(lambda: not query.is_running() or stage.record_count(committed=False) >= count, PATIENCE_S)
