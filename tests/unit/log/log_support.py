"""Batches and logs for the tests of `barnabas.log`."""

from __future__ import annotations

import struct

from crc32c import crc32c

from barnabas.log.config import LogConfig
from barnabas.log.loading import Opening, open_log
from barnabas.log.log import Log
from barnabas.log.open_files import OpenFiles
from barnabas.log.results import Read
from barnabas.model.ids import TopicPartition
from barnabas.ports import Filesystem
from barnabas.records.batch import BatchHeader, headers

PARTITION = TopicPartition("trucks", 0)
DIRECTORY = "/data/trucks-0"


def varint(value: int) -> bytes:
    zigzag = (value << 1) ^ (value >> 63)
    out = bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    out.append(zigzag)
    return bytes(out)


def record(offset_delta: int, timestamp_delta: int, value: bytes, key: bytes | None = None) -> bytes:
    body = b"\0" + varint(timestamp_delta) + varint(offset_delta)
    body += varint(-1) if key is None else varint(len(key)) + key
    body += varint(len(value)) + value + varint(0)
    return varint(len(body)) + body


def batch(
    count: int = 1,
    *,
    value: bytes = b"value",
    timestamps: list[int] | None = None,
    base_offset: int = 0,
    leader_epoch: int = -1,
    attributes: int = 0,
    producer: tuple[int, int, int] = (-1, -1, -1),
    claimed_count: int | None = None,
    magic: int = 2,
) -> bytearray:
    times = timestamps or [1000] * count
    payload = b"".join(record(i, times[i] - times[0], value) for i in range(count))
    body = struct.pack(
        ">hiqqqhii",
        attributes,
        count - 1,
        times[0],
        max(times),
        *producer,
        count if claimed_count is None else claimed_count,
    )
    body += payload
    head = struct.pack(">qiiBI", base_offset, len(body) + 9, leader_epoch, magic, crc32c(body))
    return bytearray(head + body)


def open_test_log(
    filesystem: Filesystem,
    config: LogConfig | None = None,
    *,
    clean: bool = True,
    now_ms: int = 1000,
    recovery_point: int = 0,
    log_start_offset: int = 0,
    open_files_limit: int = 64,
) -> Log:
    opening = Opening(
        PARTITION,
        DIRECTORY,
        config or LogConfig(),
        now_ms,
        clean=clean,
        recovery_point=recovery_point,
        log_start_offset=log_start_offset,
    )
    return open_log(OpenFiles(filesystem, open_files_limit), opening)


def append(log: Log, data: bytearray, *, leader_epoch: int = 0, now_ms: int = 1000) -> int:
    return log.append_as_leader(data, 0, len(data), leader_epoch=leader_epoch, now_ms=now_ms).first_offset


def batches_in(read: Read) -> list[BatchHeader]:
    if read.slice is None:
        return []
    data = read.slice.file.read(read.slice.position, read.slice.size)
    return [header for _, header in headers(data, 0, len(data))]


def read_all(log: Log, offset: int, max_bytes: int = 1 << 20) -> list[tuple[int, int]]:
    """(first, last) of each whole batch that one read returns."""
    read = log.read(offset, max_bytes, upper_offset=log.log_end_offset)
    return [(header.base_offset, header.last_offset) for header in batches_in(read)]
