"""Record batches built by hand, right or wrong on purpose."""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass

import crc32c


@dataclass(frozen=True, slots=True)
class Batch:
    """A RecordBatch of magic 2. Leave a field None and it is what it should be."""

    values: Sequence[bytes] = (b"value",)
    key: bytes | None = None
    attributes: int = 0
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    timestamp_ms: int | None = None
    magic: int = 2
    length: int | None = None
    crc: int | None = None
    last_offset_delta: int | None = None
    record_count: int | None = None
    payload: bytes | None = None

    def encode(self) -> bytes:
        timestamp_ms = int(time.time() * 1000) if self.timestamp_ms is None else self.timestamp_ms
        count = len(self.values)
        payload = self._records() if self.payload is None else self.payload
        # The checksum covers everything from the attributes on.
        checked = (
            struct.pack(
                ">hiqqqhii",
                self.attributes,
                count - 1 if self.last_offset_delta is None else self.last_offset_delta,
                timestamp_ms,
                timestamp_ms,
                self.producer_id,
                self.producer_epoch,
                self.base_sequence,
                count if self.record_count is None else self.record_count,
            )
            + payload
        )
        crc = crc32c.crc32c(checked) if self.crc is None else self.crc
        rest = struct.pack(">ibI", -1, self.magic, crc) + checked
        return struct.pack(">qi", 0, len(rest) if self.length is None else self.length) + rest

    def _records(self) -> bytes:
        return b"".join(_record(delta, self.key, value) for delta, value in enumerate(self.values))


def _record(offset_delta: int, key: bytes | None, value: bytes) -> bytes:
    key_part = zigzag(-1) if key is None else zigzag(len(key)) + key
    body = b"\0" + zigzag(0) + zigzag(offset_delta) + key_part + zigzag(len(value)) + value + zigzag(0)
    return zigzag(len(body)) + body


def zigzag(number: int) -> bytes:
    rest = (number << 1) ^ (number >> 63)
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def split_batches(records: bytes) -> list[bytes]:
    """The whole batches of a fetched record set; a cut-off last one is left out."""
    batches = []
    position = 0
    while len(records) - position >= 61:
        (size,) = struct.unpack_from(">i", records, position + 8)
        if position + 12 + size > len(records):
            break
        batches.append(records[position : position + 12 + size])
        position += 12 + size
    return batches
