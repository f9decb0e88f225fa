"""Each checker of a cluster, on a story that is wrong and on one that is not."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.sim.histories import HERE, complaints

from barnabas.sim.cluster import checkers
from barnabas.sim.cluster_events import (
    BatchFound,
    Deleted,
    DirectoriesFound,
    LogFound,
    StateFound,
    StateWritten,
)
from barnabas.sim.history import Found, Seen, SeenRecord

_FIRST = StateWritten(HERE, "id", 0, 1, 1, 1, 0, (1, 2, 3), (), (1, 2, 3, 4))
_BATCH = BatchFound(0, 3, 5, 77)
_LOG = LogFound(1, HERE, "id", 3, (_BATCH,), final=True)


def _seen(*offsets: int, high_watermark: int, final: bool = False) -> Seen:
    records = tuple(SeenRecord(offset, None, b"%d" % offset, 0) for offset in offsets)
    return Seen("reader", HERE, 0, 0, high_watermark, 0, records, "", 0, final)


def test_a_record_that_was_read_and_is_gone_is_seen() -> None:
    checker = checkers.NothingReadVanishes()
    left = _seen(0, high_watermark=1, final=True)
    assert complaints(checker, _seen(0, 1, high_watermark=2), left)
    assert not complaints(checker, _seen(0, high_watermark=1), left)


def test_a_high_watermark_that_was_not_true_is_seen() -> None:
    checker = checkers.CommittedStays()
    end = _seen(high_watermark=4, final=True)
    assert complaints(checker, _seen(high_watermark=5), end)
    assert complaints(checker, _seen(0, 1, high_watermark=1), end)
    assert not complaints(checker, _seen(high_watermark=4), _seen(high_watermark=3), end)


def test_two_writers_of_one_epoch_are_seen() -> None:
    checker = checkers.LogsMatch()
    other = replace(_LOG, broker=2, final=False, batches=(replace(_BATCH, checksum=78),))
    assert complaints(checker, _LOG, other)
    assert not complaints(checker, _LOG, replace(other, batches=(replace(_BATCH, leader_epoch=6),)))


def test_replicas_that_differ_below_the_high_watermark_are_seen() -> None:
    checker = checkers.ReplicasAgree()
    other = replace(_LOG, broker=2, batches=(replace(_BATCH, leader_epoch=6),))
    assert complaints(checker, _LOG, other)
    assert not complaints(checker, _LOG, replace(_LOG, broker=2))
    assert not complaints(checker, _LOG, replace(other, high_watermark=0))


def test_a_state_that_does_not_follow_from_the_one_before_is_seen() -> None:
    checker = checkers.StatesFollow()
    wrong = [
        replace(_FIRST, version=1, leader=4, leader_epoch=1, isr=(4,)),
        replace(_FIRST, version=1, leader=2, isr=(2, 3)),
        replace(_FIRST, version=1, controller_epoch=0),
        replace(_FIRST, version=1, leader_epoch=-1),
        replace(_FIRST, version=0, leader_epoch=1),
        replace(_FIRST, version=1, isr=(2, 3)),
    ]
    for state in wrong:
        assert complaints(checker, _FIRST, state), state


def test_elections_in_good_order_are_not_complained_of() -> None:
    checker = checkers.StatesFollow()
    assert not complaints(
        checker,
        _FIRST,
        replace(_FIRST, version=1, isr=(1,), eligible=(2,)),
        replace(_FIRST, version=2, leader=-1, leader_epoch=1, isr=(), eligible=(2, 1)),
        replace(_FIRST, version=3, leader=2, leader_epoch=2, isr=(2,), controller_epoch=2, present_epoch=2),
        replace(_FIRST, topic_id="another", version=0),
    )
    # A move ends: 4 comes into sync and leads in place of 1, which goes.
    moved = replace(_FIRST, version=1, leader=4, leader_epoch=1, isr=(4, 2), replicas=(4, 2))
    assert not complaints(checker, _FIRST, moved)
    assert complaints(checker, _FIRST, replace(moved, replicas=(4, 2, 1)))


def test_a_cluster_that_does_not_heal_is_seen() -> None:
    checker = checkers.ClusterHeals()
    assert complaints(checker, StateFound(HERE, -1, (1, 2, 3), (1, 2, 3)))
    assert complaints(checker, StateFound(HERE, 1, (1, 3), (1, 2, 3)))
    assert not complaints(checker, StateFound(HERE, 1, (1, 3, 2), (1, 2, 3)))


def test_a_move_that_does_not_end_is_seen() -> None:
    checker = checkers.MovesEnd()
    there = StateFound(HERE, 2, (2, 3), (2, 3))
    assert complaints(checker, StateFound(HERE, 1, (1,), (1, 2), (2,)))
    assert complaints(checker, there, DirectoriesFound(1, (HERE,)))
    assert not complaints(checker, there, DirectoriesFound(1, ()), DirectoriesFound(2, (HERE,)))


def test_a_deleted_topic_that_comes_back_is_seen() -> None:
    checker = checkers.DeletedStaysDeleted()
    assert complaints(checker, Deleted("topic"), Found({"topic": 1}))
    assert complaints(checker, Deleted("topic"), DirectoriesFound(2, (HERE,)))
    assert not complaints(checker, Deleted("other"), Found({"topic": 1}), DirectoriesFound(2, (HERE,)))
