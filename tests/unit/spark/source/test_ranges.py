"""From offsets to tasks, with the arithmetic of the connector that Spark brings along."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.model.ids import TopicPartition
from barnabas.spark.source.ranges import Range, between, divided, limited

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def one(start: int, end: int, partition: int = 0) -> Range:
    return Range("t", partition, start, end)


def test_an_empty_range_is_no_task() -> None:
    assert between({A: 5, B: 0}, {A: 5, B: 7}) == [one(0, 7, 1)]
    assert divided([one(3, 3)], min_partitions=4) == []


def test_without_wishes_every_partition_is_one_task() -> None:
    assert divided([one(0, 10), one(0, 90, 1)]) == [one(0, 10), one(0, 90, 1)]


def test_min_partitions_cuts_a_large_partition_evenly() -> None:
    assert divided([one(0, 10)], min_partitions=3) == [one(0, 3), one(3, 6), one(6, 10)]


def test_min_partitions_rounds_as_spark_does() -> None:
    """Two partitions of equal size and five tasks: two and a half each, so three."""
    assert len(divided([one(0, 50), one(0, 50, 1)], min_partitions=5)) == 6


def test_small_partitions_stay_whole_beside_a_large_one() -> None:
    found = divided([one(0, 2), one(0, 1000, 1)], min_partitions=5)
    assert found[0] == one(0, 2)
    assert len(found) == 5


def test_max_records_bounds_every_task() -> None:
    found = divided([one(0, 50), one(0, 50, 1)], min_partitions=5, max_records=30)
    assert [piece.size for piece in found] == [25, 25, 25, 25]


@given(
    st.lists(st.integers(0, 10_000), min_size=1, max_size=8),
    st.none() | st.integers(1, 40),
    st.none() | st.integers(1, 500),
)
def test_cut_ranges_cover_exactly_what_was_cut(
    sizes: list[int], min_partitions: int | None, max_records: int | None
) -> None:
    ranges = [one(7, 7 + size, partition) for partition, size in enumerate(sizes)]
    found = divided(ranges, min_partitions, max_records)
    for whole in ranges:
        pieces = [piece for piece in found if piece.partition == whole.partition]
        assert sum(piece.size for piece in pieces) == whole.size
        ends = [whole.start, *(piece.end for piece in pieces)]
        assert [piece.start for piece in pieces] == ends[:-1]
    assert max_records is None or all(piece.size <= max_records for piece in found)


def test_a_limit_is_shared_in_proportion_to_what_waits() -> None:
    assert limited({A: 0, B: 100}, {A: 300, B: 200}, 40) == {A: 30, B: 110}


def test_a_limit_starves_no_small_partition() -> None:
    assert limited({A: 0, B: 0}, {A: 1_000_000, B: 1}, 10) == {A: 9, B: 1}


def test_a_limit_never_goes_beyond_the_end() -> None:
    assert limited({A: 0}, {A: 5}, 2**62) == {A: 5}


def test_a_limit_leaves_partitions_without_news_alone() -> None:
    assert limited({A: 5, B: 9}, {A: 5, B: 3}, 10) == {A: 5, B: 3}
