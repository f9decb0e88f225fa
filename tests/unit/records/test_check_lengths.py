"""A batch that lies about its inside must not become a stone in every consumer's way."""

from __future__ import annotations

import pytest

from barnabas.model.ids import TopicPartition
from barnabas.records.batch import read_header, seal
from barnabas.records.build import build_batch
from barnabas.records.check import check_batch
from barnabas.records.compress import Codec
from barnabas.records.errors import MalformedRecordsError
from barnabas.records.walk import Record

PLACE = TopicPartition("t", 0)
RECORDS = [Record(offset, 1_700_000_000_000, None, b"value", ()) for offset in range(5)]
_LAST_OFFSET_DELTA, _COUNT, _FIRST_RECORD = 23, 57, 61


def check(batch: bytearray) -> None:
    check_batch(batch, 0, read_header(batch, 0), PLACE, 1_000_000)


@pytest.mark.parametrize("count", [4, 6, 1000])
def test_a_count_that_the_records_contradict_is_refused(count: int) -> None:
    batch = build_batch(RECORDS)
    check(batch)
    batch[_COUNT : _COUNT + 4] = count.to_bytes(4, "big")
    batch[_LAST_OFFSET_DELTA : _LAST_OFFSET_DELTA + 4] = (count - 1).to_bytes(4, "big")
    seal(batch, 0, len(batch))
    with pytest.raises(MalformedRecordsError, match="Incorrect declared batch size"):
        check(batch)


def test_a_record_that_reaches_past_the_batch_is_refused() -> None:
    batch = build_batch(RECORDS)
    batch[_FIRST_RECORD] += 2
    seal(batch, 0, len(batch))
    with pytest.raises(MalformedRecordsError, match="Incorrect declared batch size"):
        check(batch)


def test_what_is_compressed_stays_closed() -> None:
    batch = build_batch(RECORDS, codec=Codec.GZIP)
    check(batch)
    assert read_header(batch, 0).count == 5
