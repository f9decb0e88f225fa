"""One partition's log, whole: appending is here. The order of steps in an append is the promise it keeps:
everything is checked before a byte is written, and nothing is remembered before the write has returned.
"""

from __future__ import annotations

import struct
from typing import TypeAlias

from crc32c import crc32c

from barnabas.log import shrink
from barnabas.log.checks import Batches, sound_batches
from barnabas.log.config import LogConfig
from barnabas.log.core import Parts
from barnabas.log.following import continuing_batches, fitting
from barnabas.log.inspection import inspected, is_known, must_inspect, takes_long
from barnabas.log.producer_entry import Duplicate, Origin
from barnabas.log.producers import check_producer, note_producer
from barnabas.log.reading import ReadableLog
from barnabas.log.results import Appended, PlainBatch
from barnabas.log.verification import Guard
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.records.batch import (
    ATTRIBUTES_AT,
    LOG_APPEND_TIME,
    LOG_APPEND_TIME_MASK,
    LOG_OVERHEAD,
    headers,
    read_header,
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


class Log(ReadableLog):
    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._must_inspect = must_inspect(self.config)

    def update_config(self, config: LogConfig) -> None:
        self.config = config
        self._must_inspect = must_inspect(config)
        for segment in self.segments:
            segment.index_interval_bytes = config.index_interval_bytes

    # --- append ------------------------------------------------------------------------------------------

    def begin_leader_epoch(self, epoch: int) -> None:
        """What is written next is of this epoch. Durable with the records: until there are any, the next
        start would cut it again, and a broker that leads ten thousand partitions would sync for seconds."""
        self.leader_epochs.assign(epoch, self.log_end_offset, durable=False)

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
        is_inspected: bool = False,
    ) -> Appended:
        """Check, give offsets in place, write once. `buffer` may be changed even if the append is refused.
        `is_inspected`: a `LongLook` has found it sound."""
        # Released even when an error's traceback keeps this frame: the connection must be able to shrink its
        # buffer.
        with memoryview(buffer) as view:
            batches = list(headers(view, start, end)) if is_inspected else None
            return self._append(
                view, start, end, leader_epoch, now_ms, origin, guard, transaction_version, batches
            )

    def _append(
        self,
        view: memoryview,
        start: int,
        end: int,
        leader_epoch: int,
        now_ms: int,
        origin: Origin,
        guard: Guard | None,
        transaction_version: int,
        batches: Batches | None,
    ) -> Appended:
        config = self.config
        if batches is None:
            batches = sound_batches(view, start, end, config.max_message_bytes, origin, self.topic_partition)
            if not batches:
                return Appended(-1, -1, -1, self.log_start_offset)
            latest_ms = now_ms + config.message_timestamp_after_max_ms
            if (self._must_inspect and not is_known(batches, config, origin)) or _odd_timestamps(
                batches, latest_ms
            ):
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
        if self.leader_epochs.assign(leader_epoch, first, durable=False):
            self._sync_soon(self)
        begin = batches[0][0]
        with view[begin : begin + size] as data:
            self._write(data, first, notes, now_ms)
        if producing:
            self._note_producers(view, batches, notes)
        self.producers.end_offset = self.log_end_offset
        return Appended(first, self.log_end_offset - 1, append_time_ms, self.log_start_offset, False, size)

    def append_plain(
        self, frame: memoryview, batch: PlainBatch, *, leader_epoch: int, now_ms: int
    ) -> Appended | None:
        """One batch of a client that was found sound but for its checksum, in the same order as above. None
        for what `append_as_leader` must look into, and for what it refuses before it asks for the producer.
        """
        start, end, crc, last_offset_delta, timestamp, producer_id = batch
        size, config = end - start, self.config
        if (
            self._must_inspect
            or config.log_append_time
            or size > config.max_message_bytes
            or size > config.segment_bytes
            or timestamp > now_ms + config.message_timestamp_after_max_ms
            or crc32c(frame[start + ATTRIBUTES_AT : end]) != crc
        ):
            return None
        if producer_id >= 0:
            batches = [(start, read_header(frame, start))]
            duplicate = self._check_producers(frame, batches, Origin.CLIENT, None, 0)
            if duplicate is not None:
                return Appended(*duplicate, self.log_start_offset, True)
        first = self.log_end_offset
        last = first + last_offset_delta
        self._write_one(frame[start:end], last, timestamp, leader_epoch, now_ms)
        if producer_id >= 0:
            self._note_producers(frame, batches, [(last, timestamp, size)])
        self.producers.end_offset = last + 1
        return Appended(first, last, -1, self.log_start_offset, False, size)

    def append_own(
        self, batch: bytearray, records: int, *, leader_epoch: int, now_ms: int
    ) -> Appended | None:
        """One batch that a coordinator of this broker has just made: keyed, dated now, of no producer, its
        checksum right. None for what `append_as_leader` changes or refuses."""
        size, config = len(batch), self.config
        if (
            config.log_append_time
            or config.compression_type != "producer"
            or size > config.max_message_bytes
            or size > config.segment_bytes
        ):
            return None
        first = self.log_end_offset
        last = first + records - 1
        with memoryview(batch) as view:
            self._write_one(view, last, now_ms, leader_epoch, now_ms)
        self.producers.end_offset = last + 1
        return Appended(first, last, -1, self.log_start_offset, False, size)

    def _write_one(
        self, batch: memoryview, last_offset: int, timestamp: int, leader_epoch: int, now_ms: int
    ) -> None:
        """Give a sound batch its offset and leader epoch, and write it."""
        first, size = self.log_end_offset, len(batch)
        _OFFSET_LENGTH_EPOCH.pack_into(batch, 0, first, size - LOG_OVERHEAD, leader_epoch)
        if self.leader_epochs.assign(leader_epoch, first, durable=False):
            self._sync_soon(self)
        segment = self.active
        if segment.must_roll(self.config, size, last_offset, timestamp, now_ms):
            segment = self.roll(now_ms, first)
        segment.write(batch)
        segment.note(last_offset, timestamp, size)
        self.log_end_offset = last_offset + 1

    def wants_long_look(self, records: memoryview, now_ms: int) -> bool:
        """Whether to have a worker look into a client's records before they are appended."""
        return takes_long(records, self.config, self.topic_partition, now_ms)

    def _stamp(self, view: memoryview, batches: Batches, now_ms: int) -> int:
        for position, _ in batches:
            set_max_timestamp_and_type(view, position, now_ms, LOG_APPEND_TIME)
        return now_ms

    def append_as_follower(
        self, buffer: bytearray | memoryview, start: int, end: int, *, now_ms: int
    ) -> Appended:
        """The leader's bytes as they are: only soundness and the order of offsets are checked."""
        with memoryview(buffer) as view:
            batches = continuing_batches(view, start, end, self.log_end_offset)
            if not batches:
                return Appended(-1, -1, -1, self.log_start_offset)
            size = sum(
                self._replicate(view, run, now_ms) for run in fitting(batches, self.config.segment_bytes)
            )
        first = batches[0][1].base_offset
        return Appended(first, self.log_end_offset - 1, -1, self.log_start_offset, False, size)

    def _replicate(self, view: memoryview, batches: Batches, now_ms: int) -> int:
        latest = None
        for _, header in batches:
            epoch = header[2]
            if epoch != latest and epoch >= 0:
                latest = epoch
                if self.leader_epochs.assign(epoch, header[0], durable=False):
                    self._sync_soon(self)
        notes = [(header[0] + header[6], header[8], header[1] + LOG_OVERHEAD) for _, header in batches]
        begin, (end, last) = batches[0][0], batches[-1]
        end += last[1] + LOG_OVERHEAD
        with view[begin:end] as data:
            self._write(data, batches[0][1][0], notes, now_ms)
        if _has_producer(batches):
            self._note_producers(view, batches, notes)
        self.producers.end_offset = self.log_end_offset
        return end - begin

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
        if len(notes) == 1:
            segment.note(*notes[0])
        else:
            segment.note_all(notes)
        self.log_end_offset = last_offset + 1

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
