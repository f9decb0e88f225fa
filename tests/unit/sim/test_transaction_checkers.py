"""Each checker of transactions on a story that is well, and on the nearest one that is not."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.sim.histories import (
    HERE,
    THERE,
    aborted,
    commit,
    committed,
    complaints,
    left,
    offsets,
    seen,
    written,
)

from barnabas.model.ids import TopicPartition
from barnabas.sim.history import Ended, Ending, Event, Fate, Seen, SeenRecord, TransactionsFound
from barnabas.sim.transaction_checkers import (
    ExactlyOnce,
    NoAbortedRead,
    NoLostTransaction,
    NoTornTransaction,
    StableReads,
    TransactionsEnd,
    origin_key,
)

_BOTH = (*written("one", 0, b"x"), *written("one", 0, b"y", place=THERE))


def test_a_committed_transaction_that_is_not_there_is_a_complaint() -> None:
    story = (*_BOTH, *committed("one"))
    assert complaints(NoLostTransaction(), story, left(0, b"x"))
    assert not complaints(NoLostTransaction(), story, left(0, b"x"), left(0, b"y", place=THERE))


def test_a_transaction_whose_commit_nobody_knows_of_may_be_missing() -> None:
    unknown = (Ending("one", True), Ended("one", Fate.UNKNOWN))
    assert not complaints(NoLostTransaction(), _BOTH, unknown)


def test_an_aborted_record_is_a_complaint() -> None:
    assert complaints(NoAbortedRead(), written("one", 0, b"x"), aborted("one"), seen("a", 0, b"x"))
    uncommitted = seen("a", 0, b"x", read_committed=False)
    assert not complaints(NoAbortedRead(), written("one", 0, b"x"), aborted("one"), uncommitted)


def test_a_record_seen_before_its_commit_is_a_complaint() -> None:
    assert complaints(NoAbortedRead(), written("one", 0, b"x"), seen("a", 0, b"x"), committed("one"))
    assert not complaints(NoAbortedRead(), written("one", 0, b"x"), committed("one"), seen("a", 0, b"x"))


def test_a_record_of_a_refused_commit_is_a_complaint_whenever_it_was_seen() -> None:
    refused = (Ending("one", True), seen("a", 0, b"x"), Ended("one", Fate.ABORTED))
    assert complaints(NoAbortedRead(), written("one", 0, b"x"), refused)


def test_half_a_transaction_is_a_complaint_whatever_its_producer_knows() -> None:
    assert complaints(NoTornTransaction(), _BOTH, Ending("one", True), left(0, b"x"))
    whole = (left(0, b"x"), left(0, b"y", place=THERE))
    assert not complaints(NoTornTransaction(), _BOTH, Ending("one", True), *whole)
    assert not complaints(NoTornTransaction(), _BOTH, Ending("one", True))


def test_records_without_their_offsets_are_a_complaint() -> None:
    story = (written("one", 0, b"x"), commit("a", 3, "one"), committed("one"), left(0, b"x"))
    assert complaints(NoTornTransaction(), *story, offsets("auditor", -1))
    assert not complaints(NoTornTransaction(), *story, offsets("auditor", 3))


def test_offsets_without_their_records_are_a_complaint() -> None:
    story = (written("one", 0, b"x"), commit("a", 3, "one"), Ending("one", True))
    assert complaints(NoTornTransaction(), *story, offsets("auditor", 3))
    assert not complaints(NoTornTransaction(), *story, offsets("auditor", -1))


def _made_of(*origins: bytes) -> Event:
    place = TopicPartition("output", 0)
    records = tuple(SeenRecord(at, key, b"result", 0) for at, key in enumerate(origins))
    return replace(_last(), place=place, records=records)


def _last() -> Seen:
    return seen("reader", 0, b"x", b"y", final=True)


def test_one_result_for_every_record() -> None:
    first, second = origin_key(HERE, 0), origin_key(HERE, 1)
    assert not complaints(ExactlyOnce("output"), _last(), _made_of(first, second))
    assert complaints(ExactlyOnce("output"), _last(), _made_of(first))
    assert complaints(ExactlyOnce("output"), _last(), _made_of(first, second, second))
    assert complaints(ExactlyOnce("output"), _last(), _made_of(first, second, origin_key(HERE, 2)))


def test_the_last_stable_offset_only_rises_and_hides_what_is_above() -> None:
    assert complaints(StableReads(), seen("a", 0, b"x", stable=5), seen("a", 1, b"y", stable=4))
    assert not complaints(
        StableReads(one_leader=False), seen("a", 0, b"x", stable=5), seen("a", 1, b"y", stable=4)
    )
    assert complaints(StableReads(), seen("a", 0, b"x", stable=0))
    assert complaints(StableReads(), seen("a", 0, stable=2000))  # above the high watermark
    assert not complaints(StableReads(), seen("a", 0, b"x", stable=1), seen("a", 1, b"y", stable=2))


def test_an_open_transaction_is_a_complaint() -> None:
    assert complaints(TransactionsEnd(), TransactionsFound({"writer": "Ongoing"}))
    assert complaints(TransactionsEnd(), TransactionsFound({"writer": "PrepareCommit"}))
    assert not complaints(TransactionsEnd(), TransactionsFound({"writer": "CompleteCommit"}))
