"""Keys go to the partitions that Java's clients choose."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.records.foreign import kafka_murmur2

from barnabas.records.arrow.binary import pieces_of
from barnabas.records.arrow.murmur import murmur2, partitions_of

# From the tests of Apache Kafka's own client.
KNOWN = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}

keys = st.lists(st.none() | st.binary(max_size=40) | st.binary(min_size=100, max_size=400), max_size=60)


def hashes(content: list[bytes]) -> list[int]:
    data, start, length = pieces_of(pa.array(content, pa.binary()))
    return [int(value) for value in murmur2(data, start, length)]


def test_hashes_are_those_of_the_java_client() -> None:
    assert hashes(list(KNOWN)) == [value & 0xFFFFFFFF for value in KNOWN.values()]


@given(content=st.lists(st.binary(max_size=100), max_size=60))
def test_hashes_are_those_of_another_client(content: list[bytes]) -> None:
    assert hashes(content) == [kafka_murmur2(key) & 0xFFFFFFFF for key in content]


@given(content=keys, partition_count=st.integers(1, 2**31 - 1), start=st.integers(0, 60))
def test_partitions_are_positive_hashes_modulo_their_number(
    content: list[bytes | None], partition_count: int, start: int
) -> None:
    found = partitions_of(pa.array(content, pa.binary())[start:], partition_count)
    assert found.type == pa.int32()
    assert found.to_pylist() == [
        None if key is None else (kafka_murmur2(key) & 0x7FFFFFFF) % partition_count
        for key in content[start:]
    ]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_text_is_hashed_as_utf8(kind: pa.DataType) -> None:
    assert partitions_of(pa.array(["ünter", None]).cast(kind), 100).to_pylist() == [
        (kafka_murmur2("ünter".encode()) & 0x7FFFFFFF) % 100,
        None,
    ]
