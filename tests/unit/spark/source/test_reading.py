"""A task ends, whatever the broker says: at gaps, throttled, when what it wants is gone or never comes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.records.batch import HEADER_SIZE
from barnabas.spark.errors import PipelineError
from barnabas.spark.options import Options
from barnabas.spark.source import reading
from barnabas.spark.source.settings import SourceSettings, source_settings
from barnabas.wire import Cluster
from barnabas.wire.admin.offsets import Found
from barnabas.wire.fetching import Fetched

PARTITION = TopicPartition("t", 0)
OPTIONS = Options({"kafka.bootstrap.servers": "localhost:9092", "subscribe": "t"})
SETTINGS = source_settings(OPTIONS, streaming=False)

Answer = Fetched | ApiError
OUT_OF_RANGE = ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)


def records(next_offset: int) -> Fetched:
    return Fetched(bytes(HEADER_SIZE), next_offset, None, 100, 0, 0)


def nothing(at: int, readable_end: int = 100, throttle_time_ms: int = 0) -> Fetched:
    return Fetched(b"", at, None, readable_end, 0, throttle_time_ms)


class Broker:
    """Gives these answers, one after the other, and then the last one again and again."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[int] = []

    def __call__(self, *_: object, **__: object) -> Broker:
        return self

    def ask(self, offset: int) -> None:
        self.asked.append(offset)

    def answer(self) -> Fetched:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, ApiError):
            raise answer
        return answer

    def close(self) -> None:
        pass


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(broker: Broker, settings: SourceSettings = SETTINGS, earliest: int = 0) -> list[int]:
        monkeypatch.setattr(reading, "Fetcher", broker)
        found = {PARTITION: Found(earliest, -1, 0)}
        monkeypatch.setattr(reading, "list_offsets", lambda *_: found)
        with Cluster.connect("localhost:9092") as nobody:
            answers = reading._answers(nobody, PARTITION, settings, 10, 20)
            return [fetched.next_offset for fetched, _ in answers]

    return run


def test_a_range_ends_when_its_end_is_reached(read: Any) -> None:
    broker = Broker(records(15), records(25))
    assert read(broker) == [15, 25]
    assert broker.asked == [10, 15]


def test_a_gap_up_to_the_end_ends_the_range(read: Any) -> None:
    broker = Broker(records(15), nothing(15))
    assert read(broker) == [15]
    assert broker.asked == [10, 15, 15]


def test_being_throttled_is_no_gap(read: Any) -> None:
    throttled = nothing(10, throttle_time_ms=1)
    assert read(Broker(throttled, throttled, throttled, records(20))) == [20]


def test_records_that_do_not_come_are_waited_for(read: Any) -> None:
    late = nothing(10, readable_end=12)
    assert read(Broker(late, late, late, records(20))) == [20]


def test_records_that_never_come_are_an_error(read: Any) -> None:
    impatient = replace(SETTINGS, poll_timeout_ms=20)
    with pytest.raises(PipelineError, match=r"offset 10 of t-0 did not come within 20 ms.*ends at 12 now"):
        read(Broker(nothing(10, readable_end=12)), impatient)


def test_records_that_are_gone_are_an_error(read: Any) -> None:
    with pytest.raises(PipelineError, match=r"Records 10 to 14 of t-0 .* failOnDataLoss"):
        read(Broker(OUT_OF_RANGE), earliest=15)


def test_records_that_are_gone_are_passed_over_when_told_to(read: Any) -> None:
    careless = replace(SETTINGS, fail_on_data_loss=False)
    broker = Broker(OUT_OF_RANGE, records(20))
    assert read(broker, careless, earliest=15) == [20]
    assert broker.asked == [10, 15]


@pytest.mark.parametrize("earliest", [50, 3])
def test_a_range_that_is_gone_as_a_whole_is_empty(read: Any, earliest: int) -> None:
    """Deleted up to behind its end, or a log that was cut short and ends before it."""
    careless = replace(SETTINGS, fail_on_data_loss=False)
    assert read(Broker(OUT_OF_RANGE), careless, earliest) == []


def test_the_next_answer_is_received_while_this_one_is_worked_on() -> None:
    both_received = threading.Event()

    def two() -> Iterator[reading.Answer]:
        yield records(15), 10
        both_received.set()
        yield records(20), 15

    ahead = reading._one_ahead(two())
    assert next(ahead)[1] == 10
    assert both_received.wait(30), "nobody asks for it before we do"
    assert [since for _, since in ahead] == [15]


def test_what_goes_wrong_with_the_next_answer_is_said_after_this_one() -> None:
    def one() -> Iterator[reading.Answer]:
        yield records(15), 10
        raise OUT_OF_RANGE

    ahead = reading._one_ahead(one())
    assert next(ahead)[1] == 10
    with pytest.raises(ApiError):
        next(ahead)


def test_a_task_that_is_left_early_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    ahead = reading._one_ahead(iter([(records(15), 10), (records(20), 15), (records(25), 20)]))
    next(ahead)
    assert set(threading.enumerate()) > before
    ahead.close()
    assert set(threading.enumerate()) == before
