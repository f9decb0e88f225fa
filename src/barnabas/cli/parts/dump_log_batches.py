"""Segment files as text, in the lines of Kafka's DumpLogSegments.

Generators of lines; what looks wrong is collected in `Findings` and printed at the end, as Kafka does.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from barnabas.ports import Buffer
from barnabas.records.batch import BatchHeader, crc_matches, headers, increment_sequence
from barnabas.records.compress import codec_of
from barnabas.records.control import (
    LEADER_CHANGE_VERSION,
    ControlType,
    EndTransactionMarker,
    LeaderChange,
    UnknownControl,
    parse_control,
)
from barnabas.records.errors import RecordsError
from barnabas.records.walk import Record, records_of

MAX_BYTES = 2**31 - 1
BATCH_PAYLOAD_LIMIT = 2**31 - 1  # a dump shows whatever the broker stored

Decode: TypeAlias = Callable[[bytes], str]
Contents: TypeAlias = tuple[str | None, str | None]  # a record's key and value as text; None is not shown
Parse: TypeAlias = Callable[[Record], Contents]


def as_text(data: bytes) -> str:
    return data.decode(errors="replace")


def decoding(key: Decode, value: Decode) -> Parse:
    def parse(record: Record) -> Contents:
        return (
            None if record.key is None else key(record.key),
            None if record.value is None else value(record.value),
        )

    return parse


@dataclass(slots=True)
class Findings:
    """What does not fit together, by file."""

    index_mismatches: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    time_mismatches: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    out_of_order: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    offsets_not_found: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    gaps: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    unreadable: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        groups = (
            (self.index_mismatches, "Mismatches in :{}", "  Index offset: {}, log offset: {}"),
            (
                self.time_mismatches,
                "Found timestamp mismatch in :{}",
                "  Index timestamp: {}, log timestamp: {}",
            ),
            (
                self.out_of_order,
                "Found out of order timestamp in :{}",
                "  Index timestamp: {}, Previously indexed timestamp: {}",
            ),
            (
                self.offsets_not_found,
                "The following indexed offsets are not found in :{}",
                "Indexed offset: {}, found log offset: {}",
            ),
            (self.gaps, "Non-consecutive offsets in {}", "  {} is followed by {}"),
            (self.unreadable, "Batches whose records cannot be read in {}", "  {} to {}"),
        )
        for found, title, row in groups:
            for path, pairs in found.items():
                yield title.format(path)
                yield from (row.format(*pair) for pair in pairs)


def note(found: dict[str, list[tuple[int, int]]], path: Path, pair: tuple[int, int]) -> None:
    found.setdefault(str(path.absolute()), []).append(pair)


AS_TEXT = decoding(as_text, as_text)

# --- logs ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LogView:
    """How much of a log to show."""

    deep: bool = False
    contents: bool = False
    metadata: bool = True
    bytes_max: int = MAX_BYTES
    parse: Parse = AS_TEXT


def log_lines(path: Path, view: LogView, findings: Findings) -> Iterator[str]:
    with mapped(path) as data:
        end = min(len(data), view.bytes_max)
        valid = 0
        gaps = _GapFinder(path, findings)
        for position, header in whole_batches(data, 0, end):
            yield batch_line(data, position, header)
            valid = position + header.size
            if not view.deep:
                continue
            try:
                for record in records_in(data, position, header):
                    gaps.see(record.offset)
                    yield record_line(record, header, view)
            except RecordsError:
                note(findings.unreadable, path, (header.base_offset, header.last_offset))
        if valid < end and view.bytes_max == MAX_BYTES:
            yield f"Found {end - valid} invalid bytes at the end of {path.name}"


class _GapFinder:
    """Offsets rise by one, except where compaction took some."""

    def __init__(self, path: Path, findings: Findings) -> None:
        self._path = path
        self._findings = findings
        self._previous: int | None = None

    def see(self, offset: int) -> None:
        if self._previous is not None and offset != self._previous + 1:
            note(self._findings.gaps, self._path, (self._previous, offset))
        self._previous = offset


def batch_line(data: Buffer, position: int, header: BatchHeader) -> str:
    horizon = header.delete_horizon_ms
    shown_horizon = "OptionalLong.empty" if horizon is None else f"OptionalLong[{horizon}]"
    with memoryview(data) as whole:
        valid = crc_matches(whole, position, header)
    return (
        f"baseOffset: {header.base_offset} lastOffset: {header.last_offset} count: {header.count} "
        f"baseSequence: {header.base_sequence} lastSequence: {header.last_sequence} "
        f"producerId: {header.producer_id} producerEpoch: {header.producer_epoch} "
        f"partitionLeaderEpoch: {header.leader_epoch} isTransactional: {_java(header.is_transactional)} "
        f"isControl: {_java(header.is_control)} deleteHorizonMs: {shown_horizon} position: {position} "
        f"{_timestamp_type(header)}: {header.max_timestamp} size: {header.size} magic: {header.magic} "
        f"compresscodec: {_codec_name(header)} crc: {header.crc} isvalid: {_java(valid)}"
    )


def record_line(record: Record, header: BatchHeader, view: LogView) -> str:
    parts = []
    if view.metadata:
        names = [
            name if isinstance(name, str) else name.decode(errors="replace") for name, _ in record.headers
        ]
        parts.append(
            f"offset: {record.offset} {_timestamp_type(header)}: {record.timestamp} "
            f"keySize: {_size(record.key)} valueSize: {_size(record.value)} "
            f"sequence: {_sequence(record, header)} headerKeys: [{','.join(names)}]"
        )
        if header.is_control:
            parts.append(_control(record))
    if view.contents and not header.is_control:
        key, payload = view.parse(record)
        if key is not None:
            parts.append(f"key: {key}")
        if payload is not None:
            parts.append(f"payload: {payload}")
    return "| " + " ".join(parts) if parts else ""


def _control(record: Record) -> str:
    control = parse_control(record)
    match control:
        case EndTransactionMarker(committed, coordinator_epoch):
            kind = "COMMIT" if committed else "ABORT"
            return f"endTxnMarker: {kind} coordinatorEpoch: {coordinator_epoch}"
        case LeaderChange(leader_id, voters, granting_voters):
            change = {
                "version": LEADER_CHANGE_VERSION,
                "leaderId": leader_id,
                "voters": [{"voterId": voter} for voter in voters],
                "grantingVoters": [{"voterId": voter} for voter in granting_voters],
            }
            return f"LeaderChange: {json.dumps(change, separators=(',', ':'))}"
        case UnknownControl(type_id):
            known = {int(kind): kind.name for kind in ControlType}
            return f"controlType: {known.get(type_id, 'UNKNOWN')}({type_id})"


def _sequence(record: Record, header: BatchHeader) -> int:
    if header.base_sequence < 0:
        return header.base_sequence
    return increment_sequence(header.base_sequence, record.offset - header.base_offset)


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _java(truth: bool) -> str:
    return "true" if truth else "false"


def _timestamp_type(header: BatchHeader) -> str:
    return "LogAppendTime" if header.is_log_append_time else "CreateTime"


def _codec_name(header: BatchHeader) -> str:
    try:
        return codec_of(header.codec).name.lower()
    except RecordsError:
        return str(header.codec)


def whole_batches(data: Buffer, start: int, end: int) -> Iterator[tuple[int, BatchHeader]]:
    """Up to the first bytes that cannot be a batch."""
    try:
        yield from headers(data, start, end)
    except RecordsError:
        return


def records_in(data: Buffer, position: int, header: BatchHeader) -> Iterator[Record]:
    with memoryview(data) as whole:
        piece = bytes(whole[position : position + header.size])
    return records_of(piece, 0, header, BATCH_PAYLOAD_LIMIT)


class mapped:  # noqa: N801  # a context manager, used like a function
    """A file's bytes without reading them all; an empty file cannot be mapped and is simply empty."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Buffer:
        with self._path.open("rb") as file:
            if self._path.stat().st_size == 0:
                self._map: mmap.mmap | None = None
                return b""
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return self._map  # type: ignore[return-value]  # a buffer in all but its declared type

    def __exit__(self, *_: object) -> None:
        if self._map is not None:
            self._map.close()
