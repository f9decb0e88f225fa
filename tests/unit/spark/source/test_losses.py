"""What counts as lost data, and what can be read in spite of it."""

from __future__ import annotations

from barnabas.model.ids import TopicPartition
from barnabas.spark.source.losses import checked

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def test_nothing_is_lost_when_everything_is_there() -> None:
    assert checked({A: 3}, {A: 9}, {A: 0}) == ({A: 3}, {A: 9}, [])


def test_a_new_partition_is_read_from_its_beginning() -> None:
    assert checked({A: 3}, {A: 9, B: 4}, {A: 0, B: 0}) == ({A: 3, B: 0}, {A: 9, B: 4}, [])


def test_a_new_partition_that_does_not_begin_at_zero_has_lost_something() -> None:
    start, end, losses = checked({}, {B: 9}, {B: 4})
    assert (start, end) == ({B: 4}, {B: 9})
    assert "The new partition t-1 starts from 4 instead of 0" in losses[0]


def test_a_partition_that_is_gone_is_lost_and_left_out() -> None:
    start, end, losses = checked({A: 3, B: 2}, {A: 9}, {A: 0})
    assert (start, end) == ({A: 3}, {A: 9})
    assert losses == ["t-1 are gone: some data may have been missed."]


def test_a_partition_that_goes_after_the_batch_was_planned_is_lost_too() -> None:
    start, end, losses = checked({A: 3, B: 2}, {A: 9, B: 5}, {A: 0})
    assert (start, end) == ({A: 3}, {A: 9})
    assert len(losses) == 1


def test_records_deleted_before_they_were_read_are_lost() -> None:
    start, _, losses = checked({A: 3}, {A: 9}, {A: 5})
    assert start == {A: 5}
    assert losses == [
        "Records 3 to 4 of t-0 are not available any more: they were deleted before they were read."
    ]


def test_a_range_that_is_gone_as_a_whole_is_empty_and_not_negative() -> None:
    start, end, losses = checked({A: 3}, {A: 9}, {A: 50})
    assert (start, end) == ({A: 9}, {A: 9})
    assert "Records 3 to 8 of t-0" in losses[0]


def test_an_end_that_goes_backwards_is_lost_data() -> None:
    start, end, losses = checked({A: 10}, {A: 3}, {A: 0})
    assert (start, end) == ({A: 3}, {A: 3})
    assert "was changed from 10 to 3" in losses[0]


def test_retention_behind_what_was_read_already_is_no_loss() -> None:
    assert checked({A: 5}, {A: 5}, {A: 5}).losses == []
