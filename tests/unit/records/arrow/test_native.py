"""The C module says what the Python form says, whatever the bytes, and keeps to its buffers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.records.arrow.test_encode import Rows, columns_of, rows
from tests.unit.records.support import encoded, record_lists

from barnabas.records.arrow import fields_reference, layout, layout_reference, native
from barnabas.records.arrow.binary import gather, take
from barnabas.records.arrow.columns import columns_of as columns
from barnabas.records.arrow.decode import HEADERS
from barnabas.records.arrow.fields import Fields, find_fields
from barnabas.records.arrow.selection import Region
from barnabas.records.batch import BatchHeader, read_header
from barnabas.records.build import build_batch
from barnabas.records.errors import MalformedRecordsError
from barnabas.records.walk import Record

pytestmark = pytest.mark.skipif(native.find_fields is None, reason="the C module was not built")

PLAIN: BatchHeader = read_header(build_batch([]))


def regions_of(payloads: Sequence[tuple[bytes, int]]) -> tuple[bytes, list[Region]]:
    data, regions = b"", []
    for payload, count in payloads:
        header = PLAIN._replace(count=count, last_offset_delta=max(count - 1, 0))
        regions.append(Region(len(data), len(data) + len(payload), header))
        data += payload
    return data, regions


def tables(fields: Fields) -> list[list[int]]:
    return [column.tolist() for column in fields]


def compare(data: bytes, regions: list[Region]) -> None:
    try:
        expected = fields_reference.find_fields(data, regions)
    except MalformedRecordsError:
        with pytest.raises(MalformedRecordsError):
            find_fields(data, regions)
    else:
        assert tables(find_fields(data, regions)) == tables(expected)


@settings(max_examples=300)
@given(batches=st.lists(record_lists(min_size=1), min_size=1, max_size=3), data=st.data())
def test_fields_are_the_same(batches: list[list[Record]], data: st.DataObject) -> None:
    content, regions = regions_of([(encoded(records), len(records)) for records in batches])
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(0, 3))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    compare(bytes(changed), regions)


VARINTS = (b"\0", b"\x01", b"\x02", b"\x7f", b"\x80\0", b"\x82" + b"\x80" * 8 + b"\0", b"\xff" * 9 + b"\x01")
TOO_LONG = (b"\x80" * 9 + b"\x02", b"\x80" * 10 + b"\0", b"\xfe\xff\xff\xff\x1f", b"\xff")


@settings(max_examples=500)
@given(
    body=st.lists(st.sampled_from(VARINTS + TOO_LONG), max_size=9).map(b"".join), more=st.binary(max_size=4)
)
def test_odd_varints_are_read_or_refused_alike(body: bytes, more: bytes) -> None:
    for record in (body, body + more):
        compare(*regions_of([(bytes([2 * len(record) % 128]) + record, 1)]))


@given(content=st.binary(max_size=200), bounds=st.lists(st.integers(0, 200), max_size=30), data=st.data())
def test_copies_are_the_same(content: bytes, bounds: list[int], data: st.DataObject) -> None:
    bounds = sorted(min(bound, len(content)) for bound in bounds[: len(bounds) // 2 * 2])
    start = np.array(bounds[0::2], np.int64)
    length = np.array(bounds[1::2], np.int64) - start
    length[data.draw(st.lists(st.booleans(), min_size=len(start), max_size=len(start)))] = -1
    copied = gather(content, start, length)
    copied.validate(full=True)
    if len(start):
        assert copied == take(content, start, length)


@pytest.mark.parametrize(
    ("start", "length", "room"), [(0, 4, 4), (-1, 1, 1), (4, 1, 1), (0, 2, 1), (0, 1, 2)]
)
def test_pieces_that_do_not_fit_are_not_copied(start: int, length: int, room: int) -> None:
    assert native.gather is not None
    pieces = np.array([start]), np.array([length])
    assert not native.gather(b"abc", *pieces, np.empty(2, np.int32), bytearray(room))


@given(content=rows, room=st.integers(-10, 1500), start=st.integers(0, 10))
def test_layouts_are_the_same(content: Rows, room: int, start: int) -> None:
    table = columns(*(column[start:] for column in columns_of(content)))
    in_c = [(bytes(payload), count) for payload, count in layout.payloads(table, room)]
    assert in_c == [(bytes(payload), count) for payload, count in layout_reference.payloads(table, room)]


def test_the_python_form_is_taken_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "find_fields", None)
    monkeypatch.setattr(native, "gather", None)
    monkeypatch.setattr(native, "lay_out", None)
    table = columns(None, pa.array([b"x", b"y"]), pa.array([None, [("k", b"v")]], HEADERS.type))
    [(payload, count)] = layout.payloads(table, 1000)
    content = bytes(payload)
    fields = find_fields(content, regions_of([(content, count)])[1])
    assert fields.offset_delta.tolist() == [0, 1]
    assert gather(content, fields.value_start, fields.value_length).to_pylist() == [b"x", b"y"]


@pytest.mark.parametrize(
    ("start", "end", "count"), [(-1, 7, 1), (0, 8, 1), (5, 3, 0), (0, 7, -1), (0, 7, 2), (0, 2**62, 1)]
)
def test_regions_outside_the_data_are_not_walked(start: int, end: int, count: int) -> None:
    assert native.find_fields is not None
    record = b"\x0c\0\0\0\x01\x01\0"
    out = np.empty((8, 1), np.int64)
    assert native.find_fields(record, np.array([0, 7, 1, 0]), out)
    assert not native.find_fields(record, np.array([start, end, count, 0]), out)


@pytest.mark.parametrize(("start", "length"), [(0, 4), (-1, 2), (4, 1), (0, -2), (2**62, 2**62), (1, 2**40)])
def test_pieces_outside_their_data_are_not_written(start: int, length: int) -> None:
    assert native.lay_out is not None
    nothing = np.zeros(0, np.int64)
    keys, values = (
        (b"", np.zeros(1, np.int64), np.full(1, -1)),
        (b"abc", np.array([start]), np.array([length])),
    )
    with pytest.raises(ValueError, match="contradict"):
        native.lay_out(*keys, *values, nothing, nothing, nothing, bytearray(100), 0, 1)
