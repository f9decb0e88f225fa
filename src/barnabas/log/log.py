"""One partition's log: append and read. The order of steps in an append is the promise it keeps:
everything is checked before a byte is written, and nothing is remembered before the write has returned.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from typing import TypeAlias

from barnabas.log import lookup, shrink
from barnabas.log.checks import Batches, check_offsets_rise, sound_batches
from barnabas.log.config import LONG_MAX, LogConfig
from barnabas.log.core import LogCore, Parts
from barnabas.log.inspection import inspected, must_inspect
from barnabas.log.leader_epochs import EpochEnd
from barnabas.log.producer_entry import Duplicate, Origin
from barnabas.log.producers import check_producer, note_producer
from barnabas.log.results import NOTHING, Appended, OffsetMetadata, Read, TimestampOffset
from barnabas.log.segment import Segment
from barnabas.log.transaction_index import AbortedTransaction
from barnabas.log.verification import Guard
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.ports import FileSlice
from barnabas.records.batch import (
    LOG_APPEND_TIME,
    LOG_APPEND_TIME_MASK,
    LOG_OVERHEAD,
    set_max_timestamp_and_type,
)

# The first three fields of a batch, where the leader writes what it decides.
_OFFSET_LENGTH_EPOCH = struct.Struct(">qii")

_Note: TypeAlias = tuple[int, int, int]  # of one batch: last offset, largest timestamp, bytes


def _odd_timestamps(batches: Batches, latest_ms: int) -> bool:
    """Too far in the future, or said to be the broker's own: the records must be looked at."""
    for _, header in batches:  # noqa: SIM110 - on the hot path a generator costs more than the loop
        if header[8] > latest_ms or header[5] & LOG_APPEND_TIME_MASK:
            return True
    return False


def _has_producer(batches: Batches) -> bool:
    for _, header in batches:  # noqa: SIM110 - as above
        if header[9] >= 0:
            return True
    return False


def _assign(
    view: memoryview, batches: Batches, offset: int, leader_epoch: int, append_time_ms: int
) -> list[_Note]:
    """Write offset and leader epoch into each batch."""
    notes = []
    for position, header in batches:
        _OFFSET_LENGTH_EPOCH.pack_into(view, position, offset, header[1], leader_epoch)
        offset += header[6] + 1
        timestamp = header[8] if append_time_ms < 0 else append_time_ms
        notes.append((offset - 1, timestamp, header[1] + LOG_OVERHEAD))
    return notes


class Log(LogCore):
    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._must_inspect = must_inspect(self.config)

    def update_config(self, config: LogConfig) -> None:
        self.config = config
        self._must_inspect = must_inspect(config)
        for segment in self.segments:
            segment.index_interval_bytes = config.index_interval_bytes

    # --- append ------------------------------------------------------------------------------------------

    def append_as_leader(
        self,
        buffer: bytearray | memoryview,
        start: int,
        end: int,
        *,
        leader_epoch: int,
        now_ms: int,
        origin: Origin = Origin.CLIENT,
        guard: Guard | None = None,
        transaction_version: int = 0,
    ) -> Appended:
        """Check, give offsets in place, write once. `buffer` may be changed even if the append is refused."""
        config = self.config
        view = memoryview(buffer)
        batches = sound_batches(view, start, end, config.max_message_bytes, origin, self.topic_partition)
        if not batches:
            return Appended(-1, -1, -1, self.log_start_offset)
        latest_ms = now_ms + config.message_timestamp_after_max_ms
        if self._must_inspect or _odd_timestamps(batches, latest_ms):
            view, batches = inspected(view, batches, config, self.topic_partition, now_ms, origin)
        append_time_ms = self._stamp(view, batches, now_ms) if config.log_append_time else -1
        size = self._check_set(batches)
        producing = _has_producer(batches)
        if producing:
            duplicate = self._check_producers(view, batches, origin, guard, transaction_version)
            if duplicate is not None:
                return Appended(*duplicate, self.log_start_offset, True)
        first = self.log_end_offset
        notes = _assign(view, batches, first, leader_epoch, append_time_ms)
        self.leader_epochs.assign(leader_epoch, first)
        begin = batches[0][0]
        self._write(view[begin : begin + size], first, notes, now_ms)
        if producing:
            self._note_producers(view, batches, notes)
        self.producers.end_offset = self.log_end_offset
        return Appended(first, self.log_end_offset - 1, append_time_ms, self.log_start_offset, False, size)

    def _stamp(self, view: memoryview, batches: Batches, now_ms: int) -> int:
        for position, _ in batches:
            set_max_timestamp_and_type(view, position, now_ms, LOG_APPEND_TIME)
        return now_ms

    def append_as_follower(self, buffer: bytearray, start: int, end: int, *, now_ms: int) -> Appended:
        """The leader's bytes as they are: only soundness and the order of offsets are checked."""
        view = memoryview(buffer)
        batches = sound_batches(view, start, end, LONG_MAX, Origin.REPLICATION, self.topic_partition)
        if not batches:
            return Appended(-1, -1, -1, self.log_start_offset)
        check_offsets_rise(batches, self.log_end_offset)
        size = self._check_set(batches)
        for _, header in batches:
            if header.leader_epoch >= 0:
                self.leader_epochs.assign(header.leader_epoch, header.base_offset)
        notes = [(header.last_offset, header.max_timestamp, header.size) for _, header in batches]
        begin, first_header = batches[0]
        self._write(view[begin : begin + size], first_header.base_offset, notes, now_ms)
        self._note_producers(view, batches, notes)
        self.producers.end_offset = self.log_end_offset
        return Appended(
            first_header.base_offset, self.log_end_offset - 1, -1, self.log_start_offset, False, size
        )

    def _check_set(self, batches: Batches) -> int:
        position, header = batches[-1]
        size = position + header[1] + LOG_OVERHEAD - batches[0][0]
        if size > self.config.segment_bytes:
            raise ApiError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"Message batch size is {size} bytes in append to partition {self.topic_partition}, which "
                f"exceeds the maximum configured segment size of {self.config.segment_bytes}.",
            )
        return size

    def _check_producers(
        self,
        view: memoryview,
        batches: Batches,
        origin: Origin,
        guard: Guard | None,
        transaction_version: int,
    ) -> Duplicate | None:
        if len(batches) > 1 and origin is Origin.CLIENT:
            # Each is checked against what is already written, so a client's batches come one at a time.
            raise ApiError(ErrorCode.INVALID_RECORD, "An idempotent append holds exactly one record batch")
        for position, header in batches:
            if header[9] >= 0:
                duplicate = check_producer(
                    self.producers,
                    view,
                    position,
                    header,
                    offset=self.log_end_offset,
                    origin=origin,
                    guard=guard,
                    transaction_version=transaction_version,
                )
                if duplicate is not None:
                    return duplicate
        return None

    def _note_producers(self, view: memoryview, batches: Batches, notes: list[_Note]) -> None:
        for (position, header), (last_offset, timestamp, _) in zip(batches, notes, strict=True):
            if header[9] >= 0:
                first_offset = last_offset - header[6]
                completed = note_producer(self.producers, view, position, header, first_offset, timestamp)
                if completed is not None:
                    self.complete_transaction(completed)

    def _write(self, data: memoryview, first_offset: int, notes: list[_Note], now_ms: int) -> None:
        last_offset, timestamp, _ = notes[-1]
        if len(notes) > 1:
            timestamp = max(note[1] for note in notes)
        segment = self.active
        if segment.must_roll(self.config, len(data), last_offset, timestamp, now_ms):
            segment = self.roll(now_ms, first_offset)
        segment.write(data)
        for note in notes:
            segment.note(*note)
        self.log_end_offset = last_offset + 1

    # --- read --------------------------------------------------------------------------------------------

    def read(self, offset: int, max_bytes: int, *, upper_offset: int, minimum_one_batch: bool = True) -> Read:
        """From the batch that holds the offset; whole batches below `upper_offset`, cut at `max_bytes`."""
        if offset > self.log_end_offset or offset < self.log_start_offset:
            raise ApiError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Received request for offset {offset} for partition {self.topic_partition}, but we only "
                f"have log segments from offset {self.log_start_offset} to {self.log_end_offset}.",
            )
        if offset >= upper_offset:
            return NOTHING
        segment: Segment | None = self.active
        if offset < self.active.base_offset:
            segment = self.segments.floor(offset) or self.segments.first
        while segment is not None:
            found = segment.locate(offset)
            if found is not None:
                return self._slice(segment, offset, found, max_bytes, upper_offset, minimum_one_batch)
            segment = self.segments.after(segment)  # the offset lies in a hole that compaction left
        return NOTHING

    def _slice(
        self,
        segment: Segment,
        offset: int,
        found: tuple[int, int],
        max_bytes: int,
        upper_offset: int,
        minimum_one_batch: bool,
    ) -> Read:
        position, first_size = found
        available = self._position_of(segment, upper_offset) - position
        if available <= 0:
            return NOTHING
        metadata = OffsetMetadata(offset, segment.base_offset, position)
        if first_size > max_bytes:
            if not minimum_one_batch:
                return Read(None, metadata, True)
            max_bytes = first_size
        return Read(FileSlice(segment.file, position, min(available, max_bytes)), metadata)

    def _position_of(self, segment: Segment, upper_offset: int) -> int:
        """How far into the segment a reader bounded by `upper_offset` may see."""
        if upper_offset >= self.log_end_offset:
            return segment.size
        if segment is not self.active:
            following = self.segments.after(segment)
            if following is not None and upper_offset >= following.base_offset:
                return segment.size
        found = segment.locate(upper_offset)
        return segment.size if found is None else found[0]

    def bytes_available(self, offset: int, upper_offset: int) -> int:
        """About how many bytes a fetch from `offset` could get: enough to decide whether to park it."""
        if offset >= upper_offset:
            return 0
        low, high = self.offset_metadata(offset), self.offset_metadata(upper_offset)
        if low.segment_base_offset == high.segment_base_offset:
            return high.position - low.position
        between = sum(
            segment.size
            for segment in self.segments.from_offset(offset)
            if segment.base_offset < high.segment_base_offset
        )
        return between - low.position + high.position

    def aborted_transactions(self, read: Read, upper_offset: int) -> list[AbortedTransaction]:
        """Those a committed reader must skip in the batches of `read`."""
        if read.slice is None or read.metadata is None:
            return []
        offset, segment_base_offset, position = read.metadata
        segment = self.segments.floor(segment_base_offset)
        if segment is None:
            return []
        upper = min(upper_offset, self._upper_bound(segment, position + read.slice.size))
        found: list[AbortedTransaction] = []
        for each in self.segments.from_offset(segment_base_offset):
            result = each.transaction_index.collect(offset, upper)
            found += result.aborted
            if result.complete:
                break
        return found

    def _upper_bound(self, segment: Segment, position: int) -> int:
        """An offset that surely lies behind the bytes before `position`."""
        index = segment.offset_index
        entry = bisect_left(index.positions, position)
        if entry < len(index):
            return segment.base_offset + index.offsets[entry]
        following = self.segments.after(segment)
        return self.log_end_offset if following is None else following.base_offset

    # --- look up -----------------------------------------------------------------------------------------

    def offset_for_timestamp(self, timestamp: int) -> TimestampOffset | None:
        """The first record at or after the timestamp."""
        return lookup.first_at_or_after(self.segments, timestamp, self.log_start_offset)

    def offset_of_max_timestamp(self) -> TimestampOffset | None:
        return lookup.largest(self.segments)

    def earliest_offset(self) -> TimestampOffset:
        first = self.leader_epochs.earliest
        known = first is not None and first.start_offset <= self.log_start_offset
        return TimestampOffset(-1, self.log_start_offset, first.epoch if first is not None and known else -1)

    def latest_offset(self, upper_offset: int) -> TimestampOffset:
        latest = self.leader_epochs.latest_epoch
        return TimestampOffset(-1, upper_offset, -1 if latest is None else latest)

    def end_offset_for_epoch(self, epoch: int) -> EpochEnd:
        return self.leader_epochs.end_offset_for(epoch, self.log_end_offset)

    # --- shrink ------------------------------------------------------------------------------------------

    def delete_records_before(self, offset: int) -> int:
        """DeleteRecords: -1 stands for the high watermark. Returns the log start offset."""
        shrink.advance_log_start(self, self.high_watermark if offset == -1 else offset)
        return self.log_start_offset

    def delete_old_segments(self, now_ms: int) -> int:
        """Retention. How many segments went; their files are in `take_doomed`."""
        return shrink.delete_old_segments(self, now_ms)

    def truncate_to(self, offset: int, now_ms: int) -> bool:
        return shrink.truncate_to(self, offset, now_ms)

    def truncate_fully_and_start_at(
        self, offset: int, now_ms: int, log_start_offset: int | None = None
    ) -> None:
        shrink.truncate_fully_and_start_at(self, offset, now_ms, log_start_offset)
