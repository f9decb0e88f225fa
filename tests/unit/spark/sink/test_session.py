"""What a stage's status says about second attempts, which tasks cannot see themselves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from barnabas.spark.sink import session as module
from barnabas.spark.sink.session import ClassicSession


def session(*infos: Any) -> ClassicSession:
    """The status tracker answers with these, one after the other."""
    left = list(infos)
    tracker = SimpleNamespace(getStageInfo=lambda stage: left.pop(0) if len(left) > 1 else left[0])
    context = SimpleNamespace(statusTracker=lambda: tracker)
    return ClassicSession(cast(SparkSession, SimpleNamespace(sparkContext=context, _jsparkSession=None)))


def info(attempt: int, completed: int) -> Any:
    return SimpleNamespace(currentAttemptId=attempt, numCompletedTasks=completed, numTasks=2)


def test_a_stage_whose_first_attempt_finished_every_task_ran_once() -> None:
    assert session(info(0, 2)).ran_once([5])


def test_the_tracker_may_be_a_moment_late() -> None:
    assert session(None, info(0, 1), info(0, 2)).ran_once([5])


def test_a_stage_that_ran_again_did_not_run_once() -> None:
    assert not session(info(0, 1), info(1, 1)).ran_once([5])


def test_what_the_tracker_never_says_is_not_taken_for_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STATUS_WAIT_S", 0.01)
    assert not session(info(0, 1)).ran_once([5])
