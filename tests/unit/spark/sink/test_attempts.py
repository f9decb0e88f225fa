"""Which failures of an attempt lead to another one, and which end the query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.spark.errors import PipelineError
from barnabas.spark.options import Options
from barnabas.spark.sink import batch, commit
from barnabas.spark.sink.ledger import Entry
from barnabas.spark.sink.reports import Report, Written
from barnabas.spark.sink.settings import sink_of
from barnabas.wire.transactions import Producer

SINK = sink_of(Options({"kafka.bootstrap.servers": "127.0.0.1:1", "topic": "out"}))
BATCH = Entry("query", 7)
REPORT = Report(task=0, stage=1, rows=1, written=(Written("out", 0, 1, 0, 0),))


class Coordinator:
    """Gives the id away, and answers ends with what the test wants to hear."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.taken = 0
        self.answers: list[ErrorCode | None] = []
        monkeypatch.setattr(batch, "begin", self._begin)
        monkeypatch.setattr(commit, "Transactions", lambda *_: self)

    def _begin(self, *_: Any) -> commit.Begun:
        self.taken += 1
        return commit.Begun(Producer("id", 1, self.taken), (), 60_000, 0.0)

    def commit_offset(self, *_: Any) -> None:
        pass

    def end(self, *_: Any, commit: bool) -> None:
        answer = self.answers.pop(0)
        if answer is not None:
            raise ApiError(answer)


@pytest.fixture
def coordinator(monkeypatch: pytest.MonkeyPatch) -> Coordinator:
    return Coordinator(monkeypatch)


def write(job: batch.Job = lambda _: [REPORT]) -> None:
    with SINK.connect() as cluster:  # which nothing is asked here
        batch.write_exactly_once(SINK, cluster, "id", BATCH, job)


@pytest.mark.parametrize("code", [ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.INVALID_TXN_STATE])
def test_a_transaction_that_must_be_aborted_is_a_lost_attempt(
    coordinator: Coordinator, code: ErrorCode
) -> None:
    coordinator.answers = [code, None]
    write()
    assert coordinator.taken == 2


@pytest.mark.parametrize("code", [ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH])
def test_an_id_that_somebody_else_has_taken_is_not_taken_back(
    coordinator: Coordinator, code: ErrorCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("barnabas.spark.sink.batch.time.time", lambda: 1.0)
    coordinator.answers = [code]
    with pytest.raises(PipelineError, match="Two queries share one transactional id"):
        write()
    assert coordinator.taken == 1


def test_a_failed_job_is_run_again(coordinator: Coordinator) -> None:
    failures = [PySparkException("a task failed")]

    def job(_: Producer | None) -> Sequence[Report]:
        if failures:
            raise failures.pop()
        return [REPORT]

    coordinator.answers = [None]
    write(job)
    assert coordinator.taken == 2


def test_a_driver_whose_jvm_is_gone_leaves_the_id_to_its_successor(coordinator: Coordinator) -> None:
    def job(_: Producer | None) -> Sequence[Report]:
        raise Py4JError("An error occurred while calling o55.collectToPython")

    with pytest.raises(Py4JError):
        write(job)
    assert coordinator.taken == 1
