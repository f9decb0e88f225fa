"""One partition's log: append, read, and the offsets that say what is where.

    log start ≤ … ≤ last stable ≤ high watermark ≤ log end

Synchronous and single-threaded: its owner calls it from the loop, and takes slow work (fsync, removal of
files) away as values (`Unflushed`, `Doomed`). A failure of the disk is an OSError; the owner of the directory
decides what it means.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeAlias

from barnabas.log import names
from barnabas.log.checks import AppendOrigin, Batches, check_from_client, check_offsets_rise, sound_batches
from barnabas.log.config import LogConfig
from barnabas.log.leader_epochs import EpochEnd, LeaderEpochs
from barnabas.log.open_files import OpenFiles
from barnabas.log.results import NOTHING, Appended, OffsetMetadata, Read, Unflushed
from barnabas.log.segment import Segment
from barnabas.log.segments import Segments
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.ports import FileSlice
from barnabas.records.batch import LOG_APPEND_TIME, LOG_OVERHEAD, set_max_timestamp_and_type

# The first three fields of a batch, where the leader writes what it decides.
OFFSET_LENGTH_EPOCH = struct.Struct(">qii")

Note: TypeAlias = tuple[int, int, int]  # of one batch: last offset, largest timestamp, bytes


def _widest(notes: list[Note]) -> Note:
    return notes[-1][0], max(note[1] for note in notes), 0


class Log:
    def __init__(
        self,
        topic_partition: TopicPartition,
        directory: str,
        config: LogConfig,
        open_files: OpenFiles,
        segments: Segments,
        leader_epochs: LeaderEpochs,
        *,
        log_start_offset: int,
        log_end_offset: int,
        recovery_point: int,
        now_ms: int,
        topic_id: bytes | None = None,
        jitter: Callable[[int], int] = lambda _bound: 0,
    ) -> None:
        self.topic_partition = topic_partition
        self.directory = directory
        self.config = config
        self.topic_id = topic_id
        self.segments = segments
        self.active = segments.last
        self.leader_epochs = leader_epochs
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset
        self.high_watermark = log_start_offset
        self.recovery_point = recovery_point
        self.last_flushed_ms = now_ms
        self._open_files = open_files
        self._jitter = jitter
        self._names_synced_through = -1  # base offset of the newest segment whose name is durable

    # --- offsets -----------------------------------------------------------------------------------------

    @property
    def last_stable_offset(self) -> int:
        return self.high_watermark

    @property
    def size(self) -> int:
        return self.segments.size()

    def update_high_watermark(self, offset: int) -> int:
        """Kept within the log. Returns what it is now."""
        self.high_watermark = min(max(offset, self.log_start_offset), self.log_end_offset)
        return self.high_watermark

    def offset_metadata(self, offset: int) -> OffsetMetadata:
        if offset == self.log_end_offset:
            return OffsetMetadata(offset, self.active.base_offset, self.active.size)
        segment = self.segments.floor(offset) or self.segments.first
        found = segment.locate(offset)
        return OffsetMetadata(offset, segment.base_offset, segment.size if found is None else found[0])

    def end_offset_for_epoch(self, epoch: int) -> EpochEnd:
        return self.leader_epochs.end_offset_for(epoch, self.log_end_offset)

    # --- append ------------------------------------------------------------------------------------------

    def append_as_leader(
        self,
        buffer: bytearray,
        start: int,
        end: int,
        *,
        leader_epoch: int,
        now_ms: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
    ) -> Appended:
        """Check, give offsets in place, write once. `buffer` is changed even when the append is refused."""
        config = self.config
        with memoryview(buffer) as view:
            batches = sound_batches(view, start, end, config.max_message_bytes)
            if not batches:
                return Appended(-1, -1, -1, self.log_start_offset)
            for _, header in batches:
                check_from_client(header, origin)
            append_time_ms = -1
            if config.log_append_time:
                append_time_ms = now_ms
                for position, _ in batches:
                    set_max_timestamp_and_type(view, position, now_ms, LOG_APPEND_TIME)
            size = self._check_set(batches)
            first = offset = self.log_end_offset
            notes: list[Note] = []
            for position, header in batches:
                OFFSET_LENGTH_EPOCH.pack_into(view, position, offset, header[1], leader_epoch)
                offset += header[12]
                timestamp = header[8] if append_time_ms < 0 else append_time_ms
                notes.append((offset - 1, timestamp, header[1] + LOG_OVERHEAD))
            if leader_epoch != self.leader_epochs.latest_epoch:
                self.leader_epochs.assign(leader_epoch, first)
            position = batches[0][0]
            self._write(view[position : position + size], first, notes, now_ms)
        return Appended(first, offset - 1, append_time_ms, self.log_start_offset, False, size)

    def append_as_follower(self, buffer: bytearray, start: int, end: int, *, now_ms: int) -> Appended:
        """The leader's bytes as they are: only soundness and the order of offsets are checked."""
        with memoryview(buffer) as view:
            batches = sound_batches(view, start, end, self.config.segment_bytes)
            if not batches:
                return Appended(-1, -1, -1, self.log_start_offset)
            check_offsets_rise(batches, self.log_end_offset)
            size = self._check_set(batches)
            for _, header in batches:
                if header.leader_epoch >= 0:
                    self.leader_epochs.assign(header.leader_epoch, header.base_offset)
            first, last = batches[0][1].base_offset, batches[-1][1].last_offset
            notes = [(header.last_offset, header.max_timestamp, header.size) for _, header in batches]
            position = batches[0][0]
            self._write(view[position : position + size], first, notes, now_ms)
        return Appended(first, last, -1, self.log_start_offset, False, size)

    def _check_set(self, batches: Batches) -> int:
        position, header = batches[-1]
        size = position + header.size - batches[0][0]
        if size > self.config.segment_bytes:
            raise ApiError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"Message batch size is {size} bytes in append to partition {self.topic_partition}, which "
                f"exceeds the maximum configured segment size of {self.config.segment_bytes}.",
            )
        return size

    def _write(self, data: memoryview, first_offset: int, notes: list[Note], now_ms: int) -> None:
        last_offset, timestamp, _ = notes[-1] if len(notes) == 1 else _widest(notes)
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

    # --- roll and flush ----------------------------------------------------------------------------------

    def roll(self, now_ms: int, next_offset: int | None = None) -> Segment:
        """Begin a new active segment at the end of the log (or at `next_offset`, if that is later)."""
        base_offset = max(self.log_end_offset, next_offset or 0)
        previous = self.active
        if previous.base_offset == base_offset:
            if previous.size == 0:
                return previous
            raise AssertionError(f"segment {base_offset} of {self.directory} holds data but no offset")
        previous.seal()
        previous.forget_recent()
        segment = Segment.create(self._open_files, self.directory, base_offset, self.config, now_ms)
        segment.roll_jitter_ms = self._next_jitter_ms()
        self.segments.add(segment)
        self.active = segment
        return segment

    def _next_jitter_ms(self) -> int:
        bound = min(self.config.segment_jitter_ms, self.config.segment_ms)
        return self._jitter(bound) if bound > 0 else 0

    def flush_is_due(self, now_ms: int) -> bool:
        unflushed = self.log_end_offset - self.recovery_point
        if unflushed <= 0:
            return False
        return (
            unflushed >= self.config.flush_messages or now_ms - self.last_flushed_ms >= self.config.flush_ms
        )

    def unflushed_files(self) -> Unflushed:
        """What to sync so that everything appended until now is durable.

        The active segment's indexes are left out: recovery rebuilds those of every segment that is not wholly
        below the recovery point.
        """
        segments = self.segments.from_offset(self.recovery_point)
        paths = tuple(
            path
            for segment in segments[:-1]
            for path in map(segment.path, names.SEGMENT_SUFFIXES)
            if self._open_files.filesystem.exists(path)
        )
        directory = self.directory if self.active.base_offset > self._names_synced_through else None
        return Unflushed(
            self._open_files.filesystem, self.log_end_offset, (self.active.file,), paths, directory
        )

    def mark_flushed(self, offset: int, now_ms: int) -> None:
        if offset > self.recovery_point:
            self.recovery_point = min(offset, self.log_end_offset)
        self.last_flushed_ms = now_ms
        newest = self.segments.floor(offset)
        if newest is not None:
            self._names_synced_through = max(self._names_synced_through, newest.base_offset)

    def close(self) -> None:
        """Write what waits in memory and let the files go. The owner syncs and leaves the clean mark."""
        self.active.seal()
        for segment in self.segments:
            segment.persist_indexes()
            segment.close()
        self.leader_epochs.flush()
