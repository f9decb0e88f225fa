"""The judge of `make chaos` sees what is lost, doubled, out of order or half there."""

from __future__ import annotations

from itertools import islice

import pytest
from chaos.faults import Kind, faults
from chaos.load import Ack
from chaos.outages import outage_of, percentile, seconds_until_written
from chaos.transactional import RECORDS, Outcome
from chaos.verdict import idempotent_problems, transaction_problems

WHOLE = [f"4 {index}" for index in range(RECORDS)]


def in_one_partition(values: list[str]) -> dict[int, list[str]]:
    return {0: values}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (["a 0", "b 7", "a 1", "a 2"], None),
        (["a 0", "a 1", "a 2", "a 3"], None),  # 3 was sent, and its acknowledgement lost
        (["a 0", "a 2"], "1 acknowledged records are not there: 1"),
        (["a 0", "a 1", "a 1", "a 2"], "1 records are there more than once: 1"),
        (["a 0", "a 2", "a 1"], "record 1 comes after one that was sent later"),
    ],
)
def test_acknowledged_records_are_there_once_and_in_order(found: list[str], said: str | None) -> None:
    problems = idempotent_problems("a", {0: {0, 1, 2}}, in_one_partition(found))
    assert [problem.partition("producer a: ")[2] for problem in problems] == ([said] if said else [])


@pytest.mark.parametrize(
    ("outcome", "found", "is_fine"),
    [
        (Outcome.COMMITTED, WHOLE, True),
        (Outcome.COMMITTED, WHOLE[1:], False),
        (Outcome.COMMITTED, [*WHOLE, WHOLE[-1]], False),
        (Outcome.ABORTED, [], True),
        (Outcome.ABORTED, WHOLE[:1], False),
        (Outcome.UNKNOWN, [], True),
        (Outcome.UNKNOWN, WHOLE, True),
        (Outcome.UNKNOWN, WHOLE[:2], False),
    ],
)
def test_a_transaction_is_there_as_its_end_says(outcome: Outcome, found: list[str], is_fine: bool) -> None:
    assert (transaction_problems({4: outcome}, in_one_partition(found), 1) == []) == is_fine


def test_records_in_the_wrong_place_or_order_are_seen() -> None:
    committed = {4: Outcome.COMMITTED}
    assert transaction_problems(committed, in_one_partition(WHOLE[::-1]), 1) != []
    assert transaction_problems(committed, {0: WHOLE, 1: []}, 2) != []
    assert transaction_problems({}, in_one_partition(WHOLE), 1) == [
        "records of transactions that nobody began: 4"
    ]


def test_only_what_was_sent_after_the_fault_tells_that_there_is_a_leader() -> None:
    acks = [Ack(sent_s=9.9, acked_s=10.1), Ack(sent_s=10.2, acked_s=13.0), Ack(sent_s=12.0, acked_s=12.5)]
    assert seconds_until_written(acks, 10.0) == 2.5
    assert seconds_until_written(acks, 12.1) is None


def test_a_gap_of_more_than_a_second_is_an_outage() -> None:
    acks = [Ack(0, at_s) for at_s in (0.5, 1.0, 4.0, 4.5)]
    outage = outage_of(acks, 0.0, 10.0)
    assert outage.seconds == pytest.approx(3.0 + 5.5)
    assert outage.longest_s == pytest.approx(5.5)
    assert outage_of([], 0.0, 10.0).seconds == 10.0


def test_percentiles_are_of_the_values() -> None:
    assert [percentile([3.0, 1.0, 2.0], share) for share in (0.0, 0.5, 1.0)] == [1.0, 2.0, 3.0]


def test_a_seed_decides_the_faults_and_every_kind_comes() -> None:
    first = list(islice(faults(7, 3), 40))
    assert first == list(islice(faults(7, 3), 40))
    assert first != list(islice(faults(8, 3), 40))
    assert {fault.kind for fault in first[: len(Kind)]} == set(Kind)
    assert {fault.broker for fault in first} == {0, 1, 2}
