"""Rows find their partition and keep their order on the way."""

from __future__ import annotations

from typing import cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.model.ids import TopicPartition
from barnabas.spark.errors import PipelineError
from barnabas.spark.sink.placing import place, place_by_topic
from barnabas.spark.sink.rows import gathered, grouped
from barnabas.spark.sink.targets import Targets


class KnownTargets:
    """Topics with their numbers of partitions, without brokers."""

    def __init__(self, **counts: int) -> None:
        self._counts = counts

    def partition_count(self, topic: str) -> int:
        if topic not in self._counts:
            raise PipelineError(f"Topic {topic!r} does not exist")
        return self._counts[topic]


def targets(**counts: int) -> Targets:
    return cast(Targets, KnownTargets(**counts))


def values(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 2)), min_size=1))
def test_each_partition_gets_its_rows_in_order(rows: list[tuple[str, int]]) -> None:
    batch = pa.RecordBatch.from_pydict(
        {"topic": [topic for topic, _ in rows], "value": pa.array(values(len(rows)), pa.binary())}
    )
    partitions = pa.array([number for _, number in rows], pa.int32())
    found = {
        where: part.values.to_pylist() for where, part in grouped(batch, None, partitions, targets(a=3, b=3))
    }
    expected: dict[TopicPartition, list[bytes]] = {}
    for value, (topic, number) in zip(values(len(rows)), rows, strict=True):
        expected.setdefault(TopicPartition(topic, number), []).append(value)
    assert found == expected


def test_keys_and_headers_stay_with_their_values() -> None:
    header = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    batch = pa.RecordBatch.from_pydict(
        {
            "key": pa.array(["k0", None, "k2"]),
            "value": pa.array(["v0", "v1", None]),
            "headers": pa.array([[{"key": "h", "value": b"0"}], None, []], header),
        }
    )
    found = dict(grouped(batch, "a", pa.array([1, 0, 1], pa.int32()), targets(a=2)))
    ones = found[TopicPartition("a", 1)]
    assert ones.keys is not None
    assert ones.headers is not None
    assert ones.keys.to_pylist() == [b"k0", b"k2"]
    assert ones.values.to_pylist() == [b"v0", None]
    assert ones.headers.to_pylist() == [[{"key": "h", "value": b"0"}], []]


@pytest.mark.parametrize("wrong", [-1, 2])
def test_a_partition_that_is_not_there_is_refused(wrong: int) -> None:
    batch = pa.RecordBatch.from_pydict({"value": pa.array([b"v"])})
    with pytest.raises(PipelineError, match=f"has 2 partitions and a row asks for partition {wrong}"):
        list(grouped(batch, "a", pa.array([wrong], pa.int32()), targets(a=2)))


def test_gathering_changes_neither_rows_nor_their_order() -> None:
    batches = [
        pa.RecordBatch.from_pydict({"value": [f"{number}-{row}" for row in range(number)]})
        for number in range(9)
    ]
    together = [value for batch in gathered(iter(batches), 40) for value in batch.column(0).to_pylist()]
    assert together == [value for batch in batches for value in batch.column(0).to_pylist()]
    assert 1 < len(list(gathered(iter(batches), 40))) < len(batches)


def test_a_row_goes_where_it_says_then_where_its_key_says_then_anywhere() -> None:
    named = pa.array([2, None, None], pa.int32())
    keys = pa.array([b"21", b"21", None], pa.binary())
    placed = place(named, keys, np.array([7, 7, 7]), 4).to_pylist()
    assert placed == [2, place(None, keys, np.array([0, 0, 0]), 4).to_pylist()[1], 3]


def test_rows_of_a_topic_that_is_not_there_have_no_place() -> None:
    topics = pa.array(["a", "missing", None, "b"])
    placed = place_by_topic(topics, None, None, np.array([5, 5, 5, 5]), targets(a=3, b=4))
    assert placed.to_pylist() == [2, None, None, 1]
