"""Batches that get their sequence number late."""

from __future__ import annotations

import pyarrow as pa

from barnabas.model.ids import TopicPartition
from barnabas.records.arrow.encode import encode
from barnabas.records.batch import check_crc, read_header
from barnabas.spark.sink.encoded import stamped, task_of


def test_a_stamped_batch_differs_in_its_sequence_only() -> None:
    (made,) = encode(
        None,
        pa.array([b"a", b"b"]),
        None,
        timestamp_ms=7,
        batch_bytes=1000,
        codec=0,
        producer_id=5,
        producer_epoch=3,
        base_sequence=0,
        transactional=True,
        request_bytes_max=1000,
    )
    before = read_header(made.batch)
    after = read_header(batch := stamped(made.batch, 42))
    assert after == before._replace(base_sequence=42, crc=after.crc)
    check_crc(batch, 0, after)


def test_partitions_are_dealt_out_evenly() -> None:
    tasks = [task_of(TopicPartition("orders", number), 4) for number in range(8)]
    assert sorted(tasks) == [0, 0, 1, 1, 2, 2, 3, 3]
