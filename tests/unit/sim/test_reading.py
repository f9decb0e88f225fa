"""Readers see what the Java client sees: markers never, aborted records only if they read everything."""

from __future__ import annotations

from barnabas.protocol.messages.fetch import AbortedTransaction, PartitionData
from barnabas.records.build import build_batch
from barnabas.records.control import EndTransactionMarker, build_marker
from barnabas.records.walk import Record
from barnabas.sim.reading import read_answer


def _batch(offset: int, value: bytes, producer_id: int) -> bytes:
    record = Record(offset, 0, None, value)
    return bytes(
        build_batch(
            [record],
            base_offset=offset,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=0,
            transactional=producer_id >= 0,
        )
    )


def _marker(offset: int, producer_id: int, *, committed: bool) -> bytes:
    marker = EndTransactionMarker(committed, 0)
    return bytes(
        build_marker(marker, producer_id=producer_id, producer_epoch=0, timestamp=0, base_offset=offset)
    )


# Producer 7 aborts, then commits; producer 8 commits in between.
_LOG = b"".join(
    (
        _batch(0, b"bad", 7),
        _batch(1, b"good", 8),
        _marker(2, 7, committed=False),
        _batch(3, b"better", 7),
        _marker(4, 8, committed=True),
        _marker(5, 7, committed=True),
        _batch(6, b"plain", -1),
    )
)
_ANSWER = PartitionData(records=_LOG, aborted_transactions=[AbortedTransaction(7, 0)])


def test_an_aborted_transaction_is_hidden_up_to_its_marker() -> None:
    read = read_answer(_ANSWER, read_committed=True)
    assert [record.value for record in read.records] == [b"good", b"better", b"plain"]
    assert read.skipped == [0, 2, 4, 5]
    assert read.next_offset == 7
    assert not read.problem


def test_whoever_reads_everything_sees_all_but_the_markers() -> None:
    read = read_answer(_ANSWER, read_committed=False)
    assert [record.value for record in read.records] == [b"bad", b"good", b"better", b"plain"]
    assert read.skipped == [2, 4, 5]


def test_an_answer_that_forgets_to_list_the_transaction_shows_it() -> None:
    read = read_answer(PartitionData(records=_LOG), read_committed=True)
    assert read.records[0].value == b"bad"


def test_a_batch_cut_off_at_the_end_is_left_for_the_next_fetch() -> None:
    read = read_answer(PartitionData(records=_LOG[:-1]), read_committed=False)
    assert read.next_offset == 6
    assert not read.problem


def test_a_batch_cut_off_at_the_beginning_is_a_problem() -> None:
    assert read_answer(PartitionData(records=_LOG[:70]), read_committed=False).problem
    assert read_answer(PartitionData(records=_LOG[:20]), read_committed=False).problem
