"""What every batch must pass before it may enter a log, from its 61-byte header and its checksum."""

from __future__ import annotations

from enum import Enum, auto

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.ports import Buffer
from barnabas.records.batch import (
    CONTROL_MASK,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    BatchHeader,
    check_crc,
    crc_matches,
    headers,
    read_header,
)


class AppendOrigin(Enum):
    CLIENT = auto()
    COORDINATOR = auto()  # group, transaction and share coordinators, and the markers they cause
    REPLICATION = auto()


Batches = list[tuple[int, BatchHeader]]


def sound_batches(view: Buffer, start: int, end: int, max_message_bytes: int) -> Batches:
    """Every whole batch with its position: right magic, length and checksum, not above the size limit.

    A cut batch at the end is left out. Nearly every request holds exactly one batch, so that comes first.
    """
    if end - start >= HEADER_SIZE:
        header = read_header(view, start)
        if (
            header[1] == end - start - LOG_OVERHEAD
            and header[3] == MAGIC
            and end - start <= max_message_bytes
            and crc_matches(view, start, header)
        ):
            return [(start, header)]
    return _each_checked(view, start, end, max_message_bytes)


def _each_checked(view: Buffer, start: int, end: int, max_message_bytes: int) -> Batches:
    batches = []
    for position, header in headers(view, start, end):
        if header.size > max_message_bytes:
            raise ApiError(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"The record batch size in the append is {header.size} bytes which exceeds the maximum "
                f"configured value of {max_message_bytes}.",
            )
        check_crc(view, position, header)
        batches.append((position, header))
    return batches


def check_from_client(header: BatchHeader, origin: AppendOrigin) -> None:
    """The rules for batches that are about to be given their offsets."""
    if header[6] + 1 != header[12] or header[12] <= 0:
        _refuse_range(header)
    if header[9] >= 0 and header[11] < 0 and not header[5] & CONTROL_MASK:
        raise ApiError(
            ErrorCode.INVALID_RECORD,
            f"Invalid sequence number {header.base_sequence} in record batch with producerId "
            f"{header.producer_id}",
        )
    if origin is AppendOrigin.CLIENT:
        if header[0] != 0:
            raise ApiError(
                ErrorCode.INVALID_RECORD,
                f"The baseOffset of the record batch in the append should be 0, but it is {header[0]}",
            )
        if header[5] & CONTROL_MASK:
            raise ApiError(ErrorCode.INVALID_RECORD, "Clients are not allowed to write control records")


def _refuse_range(header: BatchHeader) -> None:
    if header.last_offset_delta < 0:
        raise ApiError(
            ErrorCode.INVALID_RECORD,
            f"Batch has an invalid offset range: [{header.base_offset}, {header.last_offset}]",
        )
    if header.count <= 0:
        raise ApiError(ErrorCode.INVALID_RECORD, f"Invalid reported count for record batch: {header.count}")
    raise ApiError(
        ErrorCode.INVALID_RECORD,
        f"Inconsistent batch offset range [{header.base_offset}, {header.last_offset}] and count of "
        f"records {header.count}",
    )


def check_offsets_rise(batches: Batches, log_end_offset: int) -> None:
    """A follower takes offsets as they come, but never backwards."""
    expected = log_end_offset
    for _, header in batches:
        if header.base_offset < expected:
            raise UnexpectedOffsetError(expected, header.base_offset)
        expected = header.next_offset


class UnexpectedOffsetError(Exception):
    """What the leader sent does not continue our log: the fetcher truncates and asks again."""

    def __init__(self, expected: int, found: int) -> None:
        super().__init__(f"Unexpected offset {found} in append: the log ends at {expected}")
        self.expected = expected
        self.found = found
