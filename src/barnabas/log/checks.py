"""What every batch must pass before it may enter a log, from its 61-byte header and its checksum."""

from __future__ import annotations

from barnabas.log.producer_entry import Origin
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.records.batch import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    BatchHeader,
    check_crc,
    headers,
    read_header,
)
from barnabas.records.check import check_batch

Batches = list[tuple[int, BatchHeader]]


def sound_batches(
    view: memoryview, start: int, end: int, max_message_bytes: int, origin: Origin, partition: TopicPartition
) -> Batches:
    """Every whole batch with its position: right magic, length and checksum, not above the size limit.

    A cut batch at the end is left out. Nearly every request holds exactly one batch, so that comes first.
    """
    batches: Batches = []
    if end - start >= HEADER_SIZE:
        header = read_header(view, start)
        if header[1] == end - start - LOG_OVERHEAD and header[3] == MAGIC:
            batches.append((start, header))
    if not batches:
        batches = list(headers(view, start, end))
    for position, header in batches:
        if origin is Origin.CLIENT:
            check_batch(view, position, header, partition, max_message_bytes)
        else:
            _check_own(view, position, header, max_message_bytes, partition)
    return batches


def _check_own(
    view: memoryview, position: int, header: BatchHeader, max_message_bytes: int, partition: TopicPartition
) -> None:
    if header.size > max_message_bytes:
        raise ApiError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"The record batch size in the append to {partition} is {header.size} bytes which exceeds the "
            f"maximum configured value of {max_message_bytes}.",
        )
    check_crc(view, position, header)


class UnexpectedOffsetError(Exception):
    """What the leader sent does not continue our log: the fetcher truncates and asks again."""

    def __init__(self, expected: int, found: int, last: int) -> None:
        super().__init__(f"Unexpected offset {found} in append: the log ends at {expected}")
        self.expected = expected
        self.found = found
        self.last = last  # of that batch
