"""Index and snapshot files as text, in the lines of Kafka's DumpLogSegments; see `dump_log`."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

from barnabas.cli.parts.dump_log_batches import Findings, mapped, note, records_in, whole_batches
from barnabas.log.producer_entry import NO_OFFSET
from barnabas.log.producer_snapshots import decode
from barnabas.ports import Buffer

_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")
_POSITION_MAX = 2**31
_ABORTED_ENTRY = struct.Struct(">hqqqq")


class CorruptFileError(Exception):
    """An index fails the check the broker makes when it starts; the sentence is Kafka's."""


def base_offset(path: Path) -> int:
    name = path.name.split(".", maxsplit=1)[0]
    if not name.isdecimal():
        raise CorruptFileError(f'java.lang.NumberFormatException: For input string: "{name}"')
    return int(name)


def offset_entries(path: Path) -> list[tuple[int, int]]:
    """(offset, position). The broker sizes an index ahead with zeros: they end it."""
    base, data = base_offset(path), path.read_bytes()
    entries = _OFFSET_ENTRY.iter_unpack(data[: len(data) // 8 * 8])
    return _until_zeros([(base + relative, position) for relative, position in entries], base)


def _until_zeros(entries: list[tuple[int, int]], base: int) -> list[tuple[int, int]]:
    for index, (offset, _) in enumerate(entries):
        if offset == base and index > 0:
            return entries[:index]
    return entries


def index_lines(path: Path, sanity_only: bool, verify_only: bool, findings: Findings) -> Iterator[str]:
    entries = offset_entries(path)
    if not entries:
        yield f"{path} is empty."
        return
    if sanity_only:
        _check_index(path, entries)
        yield f"{path} passed sanity check."
        return
    with mapped(path.with_suffix(".log")) as data:
        for offset, position in entries:
            last = next((header.last_offset for _, header in whole_batches(data, position, len(data))), -1)
            if last != offset:
                note(findings.index_mismatches, path, (offset, last))
            if not verify_only:
                yield f"offset: {offset} position: {position}"


def _check_index(path: Path, entries: list[tuple[int, int]]) -> None:
    base, size = base_offset(path), path.stat().st_size
    if entries[-1][0] < base:
        raise CorruptFileError(
            f"Corrupt index found, index file {path.absolute()} has non-zero size but the last offset is "
            f"{entries[-1][0]} which is less than the base offset {base}"
        )
    if size % _OFFSET_ENTRY.size:
        raise CorruptFileError(
            f"Index file {path.absolute()} is corrupt, found {size} bytes which is neither positive nor a "
            f"multiple of {_OFFSET_ENTRY.size}"
        )


def time_index_lines(path: Path, sanity_only: bool, verify_only: bool, findings: Findings) -> Iterator[str]:
    base, data = base_offset(path), path.read_bytes()
    whole = data[: len(data) // _TIME_ENTRY.size * _TIME_ENTRY.size]
    rows = [(base + relative, timestamp) for timestamp, relative in _TIME_ENTRY.iter_unpack(whole)]
    entries = _until_zeros(rows, base)
    if sanity_only:
        _check_time_index(path, entries, len(data))
        yield f"{path} passed sanity check."
        return
    index = offset_entries(path.with_suffix(".index")) if path.with_suffix(".index").exists() else []
    previous = -1
    with mapped(path.with_suffix(".log")) as log:
        for offset, timestamp in entries:
            _check_time_entry(path, log, index, (offset, timestamp, previous), findings)
            if not verify_only:
                yield f"timestamp: {timestamp} offset: {offset}"
            previous = timestamp


def _check_time_entry(
    path: Path,
    log: Buffer,
    index: list[tuple[int, int]],
    entry: tuple[int, int, int],
    findings: Findings,
) -> None:
    offset, timestamp, previous = entry
    slot = bisect_right(index, (offset, _POSITION_MAX)) - 1
    position = index[slot][1] if slot >= 0 else 0
    for start, header in whole_batches(log, position, len(log)):
        if header.last_offset < offset:
            continue
        if header.last_offset != offset:
            note(findings.offsets_not_found, path, (offset, header.last_offset))
            return
        newest = max((record.timestamp for record in records_in(log, start, header)), default=-1)
        if newest != timestamp:
            note(findings.time_mismatches, path, (timestamp, newest))
        if previous >= timestamp:
            note(findings.out_of_order, path, (timestamp, previous))
        return
    note(findings.offsets_not_found, path, (offset, -1))


def _check_time_index(path: Path, entries: list[tuple[int, int]], size: int) -> None:
    where = f"time index file ({path.absolute()})"
    if entries and entries[-1][1] < entries[0][1]:
        raise CorruptFileError(
            f"Corrupt time index found, {where} has non-zero size but the last timestamp is {entries[-1][1]} "
            f"which is less than the first timestamp {entries[0][1]}"
        )
    if size % _TIME_ENTRY.size:
        raise CorruptFileError(
            f"Time index file {path.absolute()} is corrupt, found {size} bytes which is neither positive "
            f"nor a multiple of {_TIME_ENTRY.size}"
        )


def transaction_index_lines(path: Path) -> Iterator[str]:
    data = path.read_bytes()
    whole = data[: len(data) // _ABORTED_ENTRY.size * _ABORTED_ENTRY.size]
    for version, producer_id, first, last, stable in _ABORTED_ENTRY.iter_unpack(whole):
        yield (
            f"version: {version} producerId: {producer_id} firstOffset: {first} lastOffset: {last} "
            f"lastStableOffset: {stable}"
        )


def snapshot_lines(path: Path) -> Iterator[str]:
    for entry in decode(path.read_bytes()):
        first = entry.transaction_first_offset
        shown = "OptionalLong.empty" if first == NO_OFFSET else f"OptionalLong[{first}]"
        line = (
            f"producerId: {entry.producer_id} producerEpoch: {entry.epoch} "
            f"coordinatorEpoch: {entry.coordinator_epoch} currentTxnFirstOffset: {shown} "
            f"lastTimestamp: {entry.last_timestamp_ms} "
        )
        if entry.batches:
            batch = entry.batches[0]
            line += (
                f"firstSequence: {batch.first_sequence} lastSequence: {batch.last_sequence} "
                f"lastOffset: {batch.last_offset} offsetDelta: {batch.offset_delta} "
                f"timestamp: {batch.timestamp_ms}"
            )
        yield line
