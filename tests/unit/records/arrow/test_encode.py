"""What is encoded from columns is what the plain builder writes, and other clients read it."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.records.arrow.support import LIMIT
from tests.unit.records.foreign import AiokafkaRecords, KafkaPythonRecords

from barnabas.records import batch as b
from barnabas.records.arrow.decode import HEADERS
from barnabas.records.arrow.encode import Encoded, encode
from barnabas.records.build import build_batch, record_size
from barnabas.records.compress import Codec
from barnabas.records.errors import RejectedRecordsError, TooLargeError
from barnabas.records.walk import Headers, Record, records_of

NOW = 1_700_000_000_000

some_bytes = st.none() | st.binary(max_size=300)
header_lists = st.none() | st.lists(st.tuples(st.text(max_size=5), some_bytes), max_size=3).map(tuple)
rows = st.lists(st.tuples(some_bytes, some_bytes, header_lists), max_size=30)
Rows = list[tuple[bytes | None, bytes | None, Headers | None]]


def columns_of(content: Rows) -> tuple[pa.Array, pa.Array, pa.Array]:
    headers = [None if h is None else [{"key": k, "value": v} for k, v in h] for _, _, h in content]
    return (
        pa.array([key for key, _, _ in content], pa.binary()),
        pa.array([value for _, value, _ in content], pa.binary()),
        pa.array(headers, HEADERS.type),
    )


def written(
    keys: pa.Array | None, values: pa.Array, headers: pa.Array | None = None, **options: Any
) -> list[Encoded]:
    defaults = {"timestamp_ms": NOW, "batch_bytes": 1000, "codec": 0, "request_bytes_max": 1 << 20}
    return list(encode(keys, values, headers, **{**defaults, **options}))


def read(batches: list[Encoded]) -> list[tuple[bytes | None, bytes | None, Headers]]:
    records = chain.from_iterable(records_of(batch, 0, b.read_header(batch), LIMIT) for batch, _ in batches)
    return [(record.key, record.value, record.headers) for record in records]


@given(content=rows, codec=st.sampled_from(Codec), batch_bytes=st.integers(100, 3000))
def test_batches_are_those_of_the_plain_builder(content: Rows, codec: Codec, batch_bytes: int) -> None:
    batches = written(
        *columns_of(content),
        codec=codec,
        batch_bytes=batch_bytes,
        producer_id=5,
        producer_epoch=2,
        base_sequence=10,
        transactional=True,
    )
    done = 0
    for batch, count in batches:
        records = [
            Record(index, NOW, key, value, headers or ())
            for index, (key, value, headers) in enumerate(content[done : done + count])
        ]
        assert batch == build_batch(
            records,
            codec=codec,
            producer_id=5,
            producer_epoch=2,
            base_sequence=10 + done,
            transactional=True,
        )
        done += count
    assert done == len(content)


@given(content=rows.filter(bool), batch_bytes=st.integers(62, 2000))
def test_batches_are_as_full_as_they_may_be(content: Rows, batch_bytes: int) -> None:
    batches = written(*columns_of(content), batch_bytes=batch_bytes)
    done = 0
    for batch, count in batches:
        assert len(batch) <= batch_bytes or count == 1
        done += count
        if done < len(content):
            key, value, headers = content[done]
            following = record_size(Record(0, NOW, key, value, headers or ()), 0, count)
            assert len(batch) + following > batch_bytes


@given(content=rows, start=st.integers(0, 30), end=st.integers(0, 30))
def test_slices_of_columns_are_encoded_as_they_are_seen(content: Rows, start: int, end: int) -> None:
    sliced = [column[start:end] for column in columns_of(content)]
    expected = [(key, value, headers or ()) for key, value, headers in content[start:end]]
    assert read(written(*sliced)) == expected


def test_text_and_large_columns_are_bytes_too() -> None:
    keys, values = pa.array(["a", None, "ü"]), pa.array([b"1", b"", None], pa.large_binary())
    assert read(written(keys, values)) == [(b"a", b"1", ()), (None, b"", ()), ("ü".encode(), None, ())]


def test_without_keys_every_key_is_null() -> None:
    assert read(written(None, pa.array([b"x", None]))) == [(None, b"x", ()), (None, None, ())]


def test_a_null_list_with_something_behind_it_has_no_headers() -> None:
    lists = pa.array([[{"key": "a", "value": b"1"}], [{"key": "b", "value": None}]], HEADERS.type)
    hidden = pa.ListArray.from_arrays(
        lists.offsets, lists.values, type=HEADERS.type, mask=pa.array([True, False])
    )
    assert read(written(None, pa.array([b"x", b"y"]), hidden)) == [
        (None, b"x", ()),
        (None, b"y", (("b", None),)),
    ]


def test_no_rows_make_no_batch() -> None:
    assert written(None, pa.array([], pa.binary())) == []


def test_offset_deltas_of_every_width_are_written() -> None:
    count = 20_000  # deltas of three bytes
    [(batch, _)] = written(None, pa.array([b""] * count), batch_bytes=1 << 20)
    assert [record.offset for record in records_of(batch, 0, b.read_header(batch), LIMIT)] == list(
        range(count)
    )


def test_many_stretches_lose_nothing_between_them() -> None:
    values = [b"%07d" % index * 1000 for index in range(5000)]  # 35 MB
    batches = written(None, pa.array(values), batch_bytes=100_000)
    assert [value for _, value, _ in read(batches)] == values


def test_sequences_start_again_after_the_last_one() -> None:
    values = pa.array([bytes(300)] * 6)
    batches = written(None, values, batch_bytes=700, base_sequence=2**31 - 3)
    assert [b.read_header(batch).base_sequence for batch, _ in batches] == [2**31 - 3, 2**31 - 1, 1]


def test_without_a_producer_there_are_no_sequences() -> None:
    batches = written(None, pa.array([bytes(300)] * 6), batch_bytes=700)
    assert {b.read_header(batch).base_sequence for batch, _ in batches} == {-1}


def test_a_record_larger_than_a_batch_gets_one_of_its_own() -> None:
    batches = written(None, pa.array([b"x", bytes(5000), b"y"]), batch_bytes=1000)
    assert [count for _, count in batches] == [1, 1, 1]


def test_a_record_too_large_for_a_request_is_refused_before_anything_is_written() -> None:
    size = len(build_batch([Record(0, NOW, None, bytes(5000))]))
    assert written(None, pa.array([bytes(5000)]), request_bytes_max=size)
    with pytest.raises(TooLargeError, match=f"row 1 takes {size} bytes"):
        encode(
            None,
            pa.array([b"x", bytes(5000)]),
            None,
            timestamp_ms=0,
            batch_bytes=1000,
            codec=0,
            request_bytes_max=size - 1,
        )


def test_a_header_without_a_key_is_refused() -> None:
    headers = pa.array([[{"key": None, "value": b"1"}]], HEADERS.type)
    with pytest.raises(RejectedRecordsError, match="key"):
        written(None, pa.array([b"x"]), headers)


def test_columns_of_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match="int64"):
        written(None, pa.array([1]))


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="equal"):
        written(pa.array([b"k"]), pa.array([b"v", b"w"]))


@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("reader", [AiokafkaRecords, KafkaPythonRecords])
def test_other_clients_read_the_batches(reader: Any, codec: Codec) -> None:
    content: Rows = [
        (b"k%d" % i, b"v" * i if i % 7 else None, (("h", b"%d" % i), ("n", None)) if i % 3 else None)
        for i in range(200)
    ]
    for batch, count in written(*columns_of(content), codec=codec, batch_bytes=4000):
        records = list(reader(bytes(batch)).next_batch())
        expected, content = content[:count], content[count:]
        assert [(record.key, record.value) for record in records] == [(k, v) for k, v, _ in expected]
        assert [list(record.headers) for record in records] == [list(h or ()) for _, _, h in expected]
    assert content == []
