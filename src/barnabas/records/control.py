"""Control records: what brokers write between the clients' records, and clients skip.

Key: version, type (two int16). End-transaction markers carry the coordinator's epoch; a leader change names
the new leader and the voters.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from barnabas.ports import Buffer
from barnabas.records.batch import (
    CONTROL_MASK,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    NO_LEADER_EPOCH,
    NO_SEQUENCE,
    TRANSACTIONAL_MASK,
    BatchHeader,
)
from barnabas.records.build import build_batch, pack_batch
from barnabas.records.compress import Codec
from barnabas.records.errors import MalformedRecordsError
from barnabas.records.walk import Record

CONTROL_KEY_VERSION = 0
MARKER_VERSION = 0
LEADER_CHANGE_VERSION = 0

_KEY = struct.Struct(">hh")
_MARKER = struct.Struct(">hi")
# A marker as every broker writes it: one record, uncompressed, deltas of 0. Length, attributes, deltas and
# the key's length; version and type; the value's length; version and coordinator epoch; no headers.
_PLAIN = struct.Struct(">5shhBhiB")
_PLAIN_LENGTH = HEADER_SIZE - LOG_OVERHEAD + _PLAIN.size
_PLAIN_HEAD, _PLAIN_VALUE_LENGTH = b"\x20\0\0\0\x08", 12
_LEADER_CHANGE = struct.Struct(">hi")
_VOTER = struct.Struct(">iB")  # id, no tagged fields


class ControlType(IntEnum):
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


_ENDS = frozenset({ControlType.ABORT, ControlType.COMMIT})


@dataclass(frozen=True, slots=True)
class EndTransactionMarker:
    committed: bool
    coordinator_epoch: int


@dataclass(frozen=True, slots=True)
class LeaderChange:
    leader_id: int
    voters: tuple[int, ...] = ()
    granting_voters: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class UnknownControl:
    """A type newer than this code, or one of Kafka's own controllers: kept, never interpreted."""

    type_id: int


Control: TypeAlias = EndTransactionMarker | LeaderChange | UnknownControl


def build_marker(
    marker: EndTransactionMarker,
    *,
    producer_id: int,
    producer_epoch: int,
    timestamp: int,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
) -> bytearray:
    """The batch that ends a producer's transaction in one partition: one record, no sequence."""
    kind = ControlType.COMMIT if marker.committed else ControlType.ABORT
    record = _PLAIN.pack(
        _PLAIN_HEAD,
        CONTROL_KEY_VERSION,
        kind,
        _PLAIN_VALUE_LENGTH,
        MARKER_VERSION,
        marker.coordinator_epoch,
        0,
    )
    header = BatchHeader(
        base_offset=base_offset,
        length=0,
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=TRANSACTIONAL_MASK | CONTROL_MASK,
        last_offset_delta=0,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=NO_SEQUENCE,
        count=1,
    )
    return pack_batch(header, record, Codec.NONE)


def build_leader_change(
    change: LeaderChange, *, timestamp: int, base_offset: int = 0, leader_epoch: int = NO_LEADER_EPOCH
) -> bytearray:
    key = _KEY.pack(CONTROL_KEY_VERSION, ControlType.LEADER_CHANGE)
    value = bytearray(_LEADER_CHANGE.pack(LEADER_CHANGE_VERSION, change.leader_id))
    for voters in (change.voters, change.granting_voters):
        _append_unsigned(value, len(voters) + 1)
        for voter in voters:
            value += _VOTER.pack(voter, 0)
    value.append(0)  # no tagged fields
    return build_batch(
        [Record(base_offset, timestamp, key, bytes(value))],
        base_offset=base_offset,
        control=True,
        leader_epoch=leader_epoch,
    )


def plain_marker(buffer: Buffer, position: int, header: BatchHeader) -> EndTransactionMarker | None:
    """The marker of a batch in its usual shape, without the walk; None if it must be looked at closely."""
    if header.length != _PLAIN_LENGTH or header.codec != Codec.NONE or header.count != 1:
        return None
    if position + LOG_OVERHEAD + _PLAIN_LENGTH > len(buffer):
        return None
    head, key_version, kind, value_length, version, coordinator_epoch, headers = _PLAIN.unpack_from(
        buffer, position + HEADER_SIZE
    )
    shape = (head, key_version, value_length, version, headers)
    if shape != (_PLAIN_HEAD, CONTROL_KEY_VERSION, _PLAIN_VALUE_LENGTH, MARKER_VERSION, 0):
        return None
    return EndTransactionMarker(kind == ControlType.COMMIT, coordinator_epoch) if kind in _ENDS else None


def parse_control(record: Record) -> Control:
    try:
        version, type_id = _KEY.unpack_from(record.key or b"")
        if version < CONTROL_KEY_VERSION:
            raise MalformedRecordsError(
                f"Invalid version found for control record: {version}. May indicate data corruption"
            )
        match type_id:
            case ControlType.ABORT | ControlType.COMMIT:
                return _parse_marker(record.value or b"", type_id == ControlType.COMMIT)
            case ControlType.LEADER_CHANGE:
                return _parse_leader_change(record.value or b"")
            case _:
                return UnknownControl(type_id)
    except (struct.error, IndexError):
        raise MalformedRecordsError("A control record ends early") from None


def _parse_marker(value: bytes, committed: bool) -> EndTransactionMarker:
    version, coordinator_epoch = _MARKER.unpack_from(value)
    if version < MARKER_VERSION:
        raise MalformedRecordsError(
            f"Invalid version found for end transaction marker: {version}. May indicate data corruption"
        )
    return EndTransactionMarker(committed, coordinator_epoch)


def _parse_leader_change(value: bytes) -> LeaderChange:
    version, leader_id = _LEADER_CHANGE.unpack_from(value)
    position = _LEADER_CHANGE.size
    # Version 1 puts the voter's directory id between its id and its tagged fields.
    voter_size = 4 if version < 1 else 20
    voters, position = _parse_voters(value, position, voter_size)
    granting_voters, position = _parse_voters(value, position, voter_size)
    return LeaderChange(leader_id, voters, granting_voters)


def _parse_voters(value: bytes, position: int, voter_size: int) -> tuple[tuple[int, ...], int]:
    length, position = _read_unsigned(value, position)
    voters = []
    for _ in range(length - 1):
        (voter,) = struct.unpack_from(">i", value, position)
        voters.append(voter)
        position = _skip_tags(value, position + voter_size)
    return tuple(voters), position


def _skip_tags(value: bytes, position: int) -> int:
    count, position = _read_unsigned(value, position)
    for _ in range(count):
        _, position = _read_unsigned(value, position)
        size, position = _read_unsigned(value, position)
        position += size
    return position


def _append_unsigned(out: bytearray, number: int) -> None:
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _read_unsigned(value: bytes, position: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 35, 7):
        byte = value[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
    raise MalformedRecordsError("Varint is too long")
