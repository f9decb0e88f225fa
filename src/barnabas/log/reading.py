"""Reading one partition's log: by offset, by timestamp, by leader epoch."""

from __future__ import annotations

from bisect import bisect_left

from barnabas.log import lookup
from barnabas.log.core import LogCore
from barnabas.log.leader_epochs import EpochEnd
from barnabas.log.results import NOTHING, Read, TimestampOffset
from barnabas.log.segment import Segment
from barnabas.log.transaction_index import AbortedTransaction
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.ports import FileSlice


class ReadableLog(LogCore):
    """A log's answers to those who fetch."""

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
        is_bounded = upper_offset < self.log_end_offset
        size = (self._position_of(segment, upper_offset) if is_bounded else segment.size) - position
        if size <= 0:
            return NOTHING
        if first_size > max_bytes:
            if not minimum_one_batch:
                return Read(None, offset, segment.base_offset, True)
            max_bytes = first_size
        return Read(FileSlice(segment.file, position, min(size, max_bytes)), offset, segment.base_offset)

    def _position_of(self, segment: Segment, upper_offset: int) -> int:
        """How far into the segment a reader may see who is bounded by an offset below the log's end."""
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
        records, offset, segment_base_offset, _ = read
        if records is None:
            return []
        segment = self.segments.floor(segment_base_offset)
        if segment is None:
            return []
        upper = min(upper_offset, self._upper_bound(segment, records.position + records.size))
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
