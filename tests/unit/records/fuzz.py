"""Fuzz target over everything that parses a batch: give it any bytes, only RecordsError may come out.

`run` is a plain function of bytes, for hypothesis here and for a coverage-guided fuzzer elsewhere.
"""

from __future__ import annotations

from contextlib import suppress

from barnabas.model.ids import TopicPartition
from barnabas.records import batch as b
from barnabas.records.check import check_batch, only_batch
from barnabas.records.compress import Codec, decompress
from barnabas.records.control import parse_control
from barnabas.records.errors import RecordsError
from barnabas.records.validate import Rules, validate_batch
from barnabas.records.walk import Record, lengths_agree, records_of, walk_keys

LIMIT = 1 << 16
PARTITION = TopicPartition("fuzz", 0)
RULES = (
    Rules(PARTITION, now_ms=10**12, uncompressed_bytes_max=LIMIT),
    Rules(PARTITION, 10**12, compacted=True, before_max_ms=5, target_codec=Codec.GZIP, from_client=False,
          uncompressed_bytes_max=LIMIT),
)  # fmt: skip


def run(data: bytes) -> None:
    for codec in range(8):
        with suppress(RecordsError):
            assert len(decompress(codec, data, LIMIT)) <= LIMIT
    with suppress(RecordsError):
        for position, header in b.headers(data, 0, len(data)):
            walk(data, position, header)
    # Behind its true checksum an arbitrary inside reaches the walkers.
    if len(data) > b.HEADER_SIZE:
        sealed = bytearray(data)
        b.HEADER.pack_into(
            sealed, 0, *b.read_header(data)._replace(length=len(data) - b.LOG_OVERHEAD, magic=b.MAGIC)
        )
        b.seal(sealed, 0, len(sealed))
        walk(bytes(sealed), 0, b.read_header(sealed))


def walk(data: bytes, position: int, header: b.BatchHeader) -> None:
    lengths_agree(data, position, header)
    with suppress(RecordsError):
        only_batch(data, position, len(data), 9)
        check_batch(memoryview(data), position, header, PARTITION, 1 << 20)
    for rules in RULES:
        with suppress(RecordsError):
            validate_batch(data, position, header, rules)
    try:
        full = list(records_of(data, position, header, LIMIT))
    except RecordsError:
        return
    assert len(full) == header.count
    keyed = list(walk_keys(data, position, header, LIMIT))
    assert [(k.offset, k.timestamp, k.key) for k in keyed] == [r[:3] for r in full]
    for record in full:
        control(record)


def control(record: Record) -> None:
    with suppress(RecordsError):
        parse_control(record)
