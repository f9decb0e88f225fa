"""Tasks that fail in the middle of their write, are repeated, or go on when nobody wants them any more."""

from __future__ import annotations

import pytest
from tests.spark.faults.conftest import Stage
from tests.spark.faults.pipeline import HOLD, HOLD_AND_RAISE, RAISE
from tests.spark.faults.processes import environment
from tests.support.spark_servers import SHORT_LIVED, standalone_spark


@pytest.mark.parametrize("order_by", [None, pytest.param("offset", marks=pytest.mark.slow)])
def test_a_task_that_fails_in_mid_write_is_not_repeated_but_the_batch_is(
    stage: Stage, order_by: str | None
) -> None:
    """Spark gives the task a second chance (local[2,2]), which refuses to write."""
    with stage.pipeline(fault=RAISE, order_by=order_by) as query:
        assert query.finish() == 0, query.tail()
        query.wait_until_repeated()
    stage.check()
    assert stage.record_count(committed=False) > stage.record_count(committed=True), "nothing was aborted"


@pytest.mark.slow
def test_a_task_of_a_lost_attempt_is_fenced_when_the_next_attempt_has_written(stage: Stage) -> None:
    """One task waits, another one fails; Spark lets the waiting one live."""
    config = {"spark.master": "local[3,1]", "spark.python.task.killTimeout": "3600s"}
    with stage.pipeline(fault=HOLD_AND_RAISE, config=config) as query:
        query.wait_until_reached()
        stage.wait_until_committed(1, query)
        query.go()
        assert query.finish() == 0, query.tail()
        assert query.wait_for_report()["is_fenced"]
    stage.check()


@pytest.mark.slow
def test_a_bare_query_whose_task_fails_finishes_after_a_restart(stage: Stage) -> None:
    with stage.pipeline(fault=RAISE, bare=True) as query:
        assert query.finish() != 0
        query.wait_until_reached()
    stage.finish_and_check(bare=True)


@pytest.mark.slow
def test_a_bare_query_skips_a_batch_that_spark_could_not_note_as_done(stage: Stage) -> None:
    commits = stage.folder / "checkpoint" / "commits"
    with stage.pipeline(fault=HOLD, bare=True) as query:
        query.wait_until_reached()
        aside = commits.rename(commits.with_name("aside"))
        commits.write_text("not a folder, so nothing can be put into it")
        query.go()
        assert query.finish() != 0
    commits.unlink()
    aside.rename(commits)
    assert not (commits / "0").exists()
    assert stage.record_count(committed=True) > 0
    stage.finish_and_check(bare=True)
    assert stage.record_count(committed=False) == stage.record_count(committed=True), "written again"


@pytest.mark.slow
def test_a_speculative_copy_of_a_slow_task_writes_nothing(stage: Stage) -> None:
    """Spark starts a copy on another host only, and never in local mode."""
    config = {
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": SHORT_LIVED,
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.minTaskRuntime": "100ms",
        "spark.speculation.quantile": "0.5",
    }
    with (
        standalone_spark(stage.folder, environment(), ("127.0.0.1", "127.0.0.2")) as master,
        stage.pipeline(fault=HOLD, config={**config, "spark.master": master}) as query,
    ):
        query.wait_until_reached()
        query.wait_until_repeated()
        query.go()
        assert query.finish() == 0, query.tail()
    stage.check()
    assert stage.record_count(committed=False) == stage.record_count(committed=True), "a batch was repeated"
