"""Nothing is committed unless the reports of all tasks add up."""

from __future__ import annotations

import pytest

from barnabas.spark.errors import PipelineError
from barnabas.spark.sink.reports import FencedError, Report, Written, check


def written(partition: int, count: int, first: int = 0, last: int | None = None) -> Written:
    return Written("T", partition, count, first, first + count - 1 if last is None else last)


def test_what_every_task_wrote_is_put_together() -> None:
    reports = [
        Report(0, 4, 5, (written(0, 5),)),
        Report(1, 4, 3, (written(1, 2), written(2, 1))),
        Report(2, 4, 0),
    ]
    assert [row.where for row in check(reports)] == ["T-0", "T-1", "T-2"]


def test_two_tasks_with_one_partition_are_refused_even_if_their_counts_are_equal() -> None:
    reports = [Report(0, 4, 5, (written(3, 5),)), Report(1, 4, 5, (written(3, 5),))]
    with pytest.raises(
        PipelineError, match=r"two tasks wrote to T-3: use barnabas\.spark\.write_stream\(df\)"
    ):
        check(reports)


def test_records_of_others_may_lie_between_ours() -> None:
    assert check([Report(0, 4, 5, (written(0, 5, first=10, last=90),))])


def test_more_records_than_offsets_are_refused() -> None:
    with pytest.raises(PipelineError, match="do not fit between offsets 10 and 12"):
        check([Report(0, 4, 5, (written(0, 5, first=10, last=12),))])


def test_rows_that_were_not_written_are_refused() -> None:
    with pytest.raises(PipelineError, match="got 6 rows and wrote 5"):
        check([Report(0, 4, 6, (written(0, 5),))])


def test_a_task_s_refusal_is_the_user_s_sentence() -> None:
    with pytest.raises(PipelineError, match="no such topic"):
        check([Report(0, 4, 0), Report(1, 4, 6, refusal="no such topic")])


def test_a_lost_transaction_comes_before_what_else_may_be_wrong() -> None:
    with pytest.raises(FencedError):
        check([Report(1, 4, 6, is_fenced=True)])


def test_a_report_survives_its_way_to_the_driver() -> None:
    report = Report(1, 4, 3, (written(1, 2), written(2, 1)), refusal="no", is_fenced=True)
    assert Report.from_json(report.to_json()) == report
