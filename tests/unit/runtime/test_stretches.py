"""What is believed of files that may not be in memory."""

from __future__ import annotations

from barnabas.runtime.stretches import Stretch, Stretches

MEBIBYTE = 1 << 20
FD = 7


def found(start: int, end: int, until_ms: int = 1000) -> Stretch:
    return Stretch(start * MEBIBYTE, end * MEBIBYTE, until_ms, is_ours=False)


def read(start: int, end: int, until_ms: int = 1000) -> Stretch:
    return Stretch(start * MEBIBYTE, end * MEBIBYTE, until_ms, is_ours=True)


def known(*those: Stretch) -> Stretches:
    stretches = Stretches()
    for one in those:
        stretches.remember(FD, one, now_ms=0)
    return stretches


def test_two_readers_of_one_file_do_not_forget_each_other() -> None:
    first, second = read(0, 5), read(100, 105)
    assert list(known(first, second).of(FD)) == [first, second]


def test_who_reads_what_is_in_memory_leaves_one_stretch_and_not_a_thousand() -> None:
    stretches = known(read(100, 105), *(found(at, at + 1) for at in range(50)))
    assert [(one.start // MEBIBYTE, one.is_ours) for one in stretches.of(FD)] == [(100, True), (49, False)]


def test_what_is_no_longer_believed_makes_room() -> None:
    stretches = known(read(0, 5, until_ms=500))
    latest = read(100, 105, until_ms=2000)
    stretches.remember(FD, latest, now_ms=500)
    assert list(stretches.of(FD)) == [latest]


def test_readers_at_many_places_of_one_file_are_bounded() -> None:
    stretches = known(*(read(10 * place, 10 * place + 5) for place in range(1000)))
    remembered = list(stretches.of(FD))
    assert len(remembered) == 8
    assert remembered[-1].start == 9990 * MEBIBYTE, "the latest are kept"


def test_files_are_bounded() -> None:
    stretches = Stretches()
    for fd in range(5000):
        stretches.remember(fd, read(0, 5), now_ms=0)
    assert len([fd for fd in range(5000) if stretches.of(fd)]) <= 1024


def test_a_reader_passes_what_lies_sixteen_mebibytes_behind_it() -> None:
    mine = read(0, 40)
    stretches = known(mine)
    assert stretches.pass_by(FD, mine, now_ms=0) == (0, 24 * MEBIBYTE)
    assert not mine.covers(23 * MEBIBYTE, 24 * MEBIBYTE, now_ms=0), "it may be gone"
    assert mine.covers(24 * MEBIBYTE, 40 * MEBIBYTE, now_ms=0)


def test_nothing_is_passed_twice() -> None:
    mine = read(0, 40)
    stretches = known(mine)
    stretches.pass_by(FD, mine, now_ms=0)
    mine.end = 44 * MEBIBYTE
    assert stretches.pass_by(FD, mine, now_ms=0) == (24 * MEBIBYTE, 28 * MEBIBYTE)


def test_who_has_read_little_has_passed_nothing() -> None:
    mine = read(100, 105)
    start, end = known(mine).pass_by(FD, mine, now_ms=0)
    assert start == end
    assert mine.start == 100 * MEBIBYTE


def test_what_a_reader_behind_still_has_to_read_is_left_there() -> None:
    mine, behind = read(0, 40), found(3, 4)
    start, end = known(mine, behind).pass_by(FD, mine, now_ms=0)
    assert start == end


def test_what_somebody_is_believed_to_find_in_memory_is_left_there() -> None:
    mine, inside = read(0, 40), found(23, 26)
    start, end = known(mine, inside).pass_by(FD, mine, now_ms=0)
    assert start == end


def test_a_reader_ahead_or_one_that_is_gone_changes_nothing() -> None:
    mine, ahead, gone = read(0, 40), found(60, 61), found(3, 4, until_ms=500)
    assert known(mine, ahead, gone).pass_by(FD, mine, now_ms=600) == (0, 24 * MEBIBYTE)


def test_what_a_slow_disk_is_still_asked_for_is_neither_forgotten_nor_given_back() -> None:
    mine, slow = read(0, 40, until_ms=5000), read(10, 10, until_ms=1000)
    slow.end_soon = 14 * MEBIBYTE
    stretches = known(mine, slow)
    stretches.remember(FD, found(70, 71, until_ms=5000), now_ms=3000)
    assert slow in stretches.of(FD)
    start, end = stretches.pass_by(FD, mine, now_ms=3000)
    assert start == end
