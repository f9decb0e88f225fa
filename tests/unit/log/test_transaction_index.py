from __future__ import annotations

import pytest

from barnabas.log.transaction_index import AbortedTransaction, CorruptTransactionIndexError, TransactionIndex
from barnabas.sim.disk import SimulatedDisk

ONE = AbortedTransaction(1, 0, 10, 11)
TWO = AbortedTransaction(2, 5, 20, 12)
THREE = AbortedTransaction(1, 12, 30, 31)


def index_of(*aborted: AbortedTransaction) -> tuple[SimulatedDisk, TransactionIndex]:
    disk = SimulatedDisk()
    index = TransactionIndex(disk, "/a.txnindex", 0)
    for one in aborted:
        index.append(one)
    return disk, index


def test_the_file_appears_with_the_first_aborted_transaction_in_kafkas_bytes() -> None:
    disk, index = index_of()
    assert not disk.exists("/a.txnindex")
    assert index.all() == []
    index.append(AbortedTransaction(1, 2, 3, 4))
    assert disk.read_bytes("/a.txnindex").hex() == "0000" + "".join(f"{n:016x}" for n in (1, 2, 3, 4))


def test_entries_are_found_again_after_reopening() -> None:
    disk, _ = index_of(ONE, TWO)
    again = TransactionIndex(disk, "/a.txnindex", 0)
    again.append(THREE)
    again.check()
    assert again.all() == [ONE, TWO, THREE]


@pytest.mark.parametrize(
    ("fetch_offset", "upper_bound", "found", "complete"),
    [
        (0, 100, [ONE, TWO, THREE], False),
        (0, 5, [ONE], True),  # the first entry's last stable offset is past the range
        (11, 13, [TWO, THREE], True),
        (21, 100, [THREE], False),
        (31, 100, [], False),
    ],
)
def test_a_search_finds_what_overlaps_and_knows_when_it_is_done(
    fetch_offset: int, upper_bound: int, found: list[AbortedTransaction], complete: bool
) -> None:
    _, index = index_of(ONE, TWO, THREE)
    assert index.collect(fetch_offset, upper_bound) == (found, complete)


def test_a_search_in_a_long_file_misses_nothing() -> None:
    many = [AbortedTransaction(n % 7, 10 * n, 10 * n + 15, 10 * n + 6) for n in range(500)]
    _, index = index_of(*many)
    for low, high in ((0, 40), (2_000, 2_001), (2_016, 2_500), (4_980, 9_000), (6_000, 9_000), (0, 9_000)):
        found, complete = index.collect(low, high)
        assert found == [one for one in many if one.last_offset >= low and one.first_offset < high]
        assert complete == any(one.last_stable_offset >= high for one in many)


def test_truncating_forgets_markers_from_there_on_and_appending_goes_on() -> None:
    _, index = index_of(ONE, TWO, THREE)
    index.truncate_to(20)
    assert index.all() == [ONE]
    index.append(TWO)
    assert index.all() == [ONE, TWO]
    index.reset()
    assert index.all() == []
    index.append(ONE)


def test_entries_out_of_order_are_our_own_fault() -> None:
    _, index = index_of(TWO)
    with pytest.raises(AssertionError):
        index.append(ONE)


@pytest.mark.parametrize(
    "garbage",
    [
        b"\0" * 34,
        b"\0" * 33,
        b"\0\1" + b"\0" * 32,
        b"".join(b"\0\0" + n.to_bytes(32, "big") for n in (7, 3)),
    ],
)
def test_garbage_does_not_pass_the_check(garbage: bytes) -> None:
    disk = SimulatedDisk()
    disk.write_bytes_durably("/a.txnindex", garbage)
    with pytest.raises(CorruptTransactionIndexError):
        TransactionIndex(disk, "/a.txnindex", 0).check()


def test_an_entry_from_before_the_segment_does_not_pass_the_check() -> None:
    disk, _ = index_of(ONE)
    with pytest.raises(CorruptTransactionIndexError):
        TransactionIndex(disk, "/a.txnindex", 11).check()


def test_renaming_and_removing_work_with_and_without_a_file() -> None:
    disk, index = index_of(ONE)
    index.rename_to("/b.txnindex")
    assert disk.list("/") == ["b.txnindex"]
    index.moved_to("/elsewhere")
    assert index.path == "/elsewhere/b.txnindex"
    index.moved_to("")
    index.remove()
    assert disk.list("/") == []
    empty = TransactionIndex(disk, "/c.txnindex", 0)
    empty.rename_to("/d.txnindex")
    empty.sync()
    empty.remove()
    assert disk.list("/") == []
