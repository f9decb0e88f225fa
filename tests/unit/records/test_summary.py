"""All records of a batch at once: in C the same as record by record, for every input."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.records.support import record_lists, some_records

from barnabas.model.ids import TopicPartition
from barnabas.records import batch as b
from barnabas.records.arrow import native
from barnabas.records.build import build_batch
from barnabas.records.errors import MalformedRecordsError, RecordsError
from barnabas.records.summary import Summary, summarise
from barnabas.records.validate import Rules, Validated, validate_batch
from barnabas.records.walk import Record, walk_fields

pytestmark = pytest.mark.skipif(native.summarise is None, reason="the C module was not built")


def reference(payload: bytes, header: b.BatchHeader) -> Summary | None:
    try:
        rows = list(walk_fields(payload, header.count, header.last_offset_delta))
    except MalformedRecordsError:
        return None
    deltas = [row[2] for row in rows]
    return Summary(min(deltas), max(deltas), sum(row[4] < 0 for row in rows)) if rows else None


@given(records=record_lists(min_size=1), data=st.data())
def test_sound_and_damaged_records_are_summarised_as_a_walk_would(
    records: list[Record], data: st.DataObject
) -> None:
    batch = build_batch(records)
    header, payload = b.read_header(batch), bytearray(batch[b.HEADER_SIZE :])
    assert summarise(bytes(payload), header) == reference(bytes(payload), header)
    payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(payload[: data.draw(st.integers(0, len(payload)))])
    for damaged in (bytes(payload), cut):
        found = summarise(damaged, header)
        assert found is None or found == reference(damaged, header)


@given(
    records=record_lists(min_size=1),
    compacted=st.booleans(),
    timestamp_type=st.sampled_from([b.CREATE_TIME, b.LOG_APPEND_TIME]),
    now_ms=st.integers(-(2**62), 2**62),
    before_max_ms=st.sampled_from([0, 1000, 2**63 - 1]),
)
def test_a_batch_is_judged_the_same_with_and_without_a_summary(
    records: list[Record], compacted: bool, timestamp_type: int, now_ms: int, before_max_ms: int
) -> None:
    batch = build_batch(records)
    rules = Rules(TopicPartition("t", 0), now_ms, compacted, timestamp_type, before_max_ms)

    def judged() -> Validated | tuple[type, str]:
        try:
            return validate_batch(batch, 0, b.read_header(batch), rules)
        except RecordsError as error:
            return type(error), str(error)

    with patch.object(native, "summarise", None):
        expected = judged()
    assert judged() == expected


def test_no_records_have_no_summary() -> None:
    header = b.read_header(build_batch(some_records(1)))._replace(count=0)
    assert summarise(b"", header) is None
