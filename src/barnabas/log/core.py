"""What every part of a log shares: its segments, its offsets, rolling, flushing and letting segments go.

    log start ≤ … ≤ last stable ≤ high watermark ≤ log end

Synchronous and single-threaded: its owner calls it from the loop, and takes slow work (fsync, removal of
files) away as values (`Unflushed`, `Doomed`). A failure of the disk is an OSError; the owner of the directory
decides what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from barnabas.log import names
from barnabas.log.config import LogConfig
from barnabas.log.flushing import Unflushed
from barnabas.log.leader_epochs import EpochsWrite, LeaderEpochs
from barnabas.log.open_files import OpenFiles
from barnabas.log.open_transactions import CompletedTransaction
from barnabas.log.producer_state import ProducerStates
from barnabas.log.results import Doomed, OffsetMetadata
from barnabas.log.segment import Segment
from barnabas.log.segments import Segments
from barnabas.log.transaction_index import AbortedTransaction
from barnabas.model.ids import TopicPartition


def no_jitter(_bound: int) -> int:
    return 0


def nobody_cares(_log: LogCore) -> None:
    return


@dataclass(slots=True)
class Parts:
    """What loading found on the disk."""

    topic_partition: TopicPartition
    directory: str
    config: LogConfig
    open_files: OpenFiles
    segments: Segments
    leader_epochs: LeaderEpochs
    producers: ProducerStates
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    now_ms: int
    names_synced: bool = False
    unsynced_paths: tuple[str, ...] = ()
    topic_id: bytes | None = None
    jitter: Callable[[int], int] = no_jitter
    sync_soon: Callable[[LogCore], None] = nobody_cares  # told when something waits to be durable


class LogCore:
    def __init__(self, parts: Parts) -> None:
        self.topic_partition = parts.topic_partition
        self.directory = parts.directory
        self.config = parts.config
        self.topic_id = parts.topic_id
        self.segments = parts.segments
        self.active = parts.segments.last
        self.leader_epochs = parts.leader_epochs
        self.producers = parts.producers
        self.log_start_offset = parts.log_start_offset
        self.log_end_offset = parts.log_end_offset
        self.high_watermark = parts.log_start_offset
        self.recovery_point = parts.recovery_point
        self.last_flushed_ms = parts.now_ms
        self.is_open = True
        self._doomed: list[Doomed] = []
        self._open_files = parts.open_files
        self._jitter = parts.jitter
        self._sync_soon = parts.sync_soon
        # Base offset of the newest segment whose name is durable; -1: not even the directory's own name is.
        self._names_synced_through = parts.segments.last.base_offset if parts.names_synced else -1
        self._unsynced_paths = list(parts.unsynced_paths)
        self._flushes: list[Unflushed] = []  # given out, not yet accounted for
        # A rolled segment may end exactly at the recovery point and still have indexes that are not durable.
        self._unsynced_rolled = self.segments.from_offset(self.recovery_point - 1)[:-1]

    # --- offsets -----------------------------------------------------------------------------------------

    @property
    def last_stable_offset(self) -> int:
        """Below it, every transaction is decided and replicated."""
        if self.producers.transactions.first_unstable_offset is None:
            return self.high_watermark
        self.producers.on_high_watermark(self.high_watermark)
        unstable = self.producers.first_unstable_offset
        if unstable is None or unstable >= self.high_watermark:
            return self.high_watermark
        return max(unstable, self.log_start_offset)

    @property
    def size(self) -> int:
        return self.segments.size()

    def update_high_watermark(self, offset: int) -> int:
        """Kept within the log. Returns what it is now."""
        self.high_watermark = min(max(offset, self.log_start_offset), self.log_end_offset)
        self.producers.on_high_watermark(self.high_watermark)
        return self.high_watermark

    def offset_metadata(self, offset: int) -> OffsetMetadata:
        if offset == self.log_end_offset:
            return OffsetMetadata(offset, self.active.base_offset, self.active.size)
        segment = self.segments.floor(offset) or self.segments.first
        found = segment.locate(offset)
        return OffsetMetadata(offset, segment.base_offset, segment.size if found is None else found[0])

    def modified_ms(self, path: str) -> int:
        return self._open_files.filesystem.modified_ms(path)

    # --- roll --------------------------------------------------------------------------------------------

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
        self._unsynced_rolled.append(previous)
        # As of the new segment's start, so that recovery of this segment need not replay the ones before.
        self.producers.end_offset = base_offset
        self._snapshot()
        segment = self.begin_at(base_offset, now_ms)
        self._sync_soon(self)
        return segment

    def begin_at(self, base_offset: int, now_ms: int) -> Segment:
        segment = Segment.create(self._open_files, self.directory, base_offset, self.config, now_ms)
        bound_ms = min(self.config.segment_jitter_ms, self.config.segment_ms)
        segment.roll_jitter_ms = self._jitter(bound_ms) if bound_ms > 0 else 0
        self.segments.add(segment)
        self.active = segment
        return segment

    def _snapshot(self) -> None:
        path = self.producers.take_snapshot(sync=False)
        if path is not None:
            self._unsynced_paths.append(path)

    def complete_transaction(self, completed: CompletedTransaction) -> None:
        """Index before state: a reader that sees the transaction decided must find it in the index.

        Those replicated meanwhile are forgotten here, or a partition that nobody reads would remember all.
        """
        self.producers.on_high_watermark(self.high_watermark)
        if completed.aborted:
            self.active.transaction_index.append(
                AbortedTransaction(
                    completed.producer_id,
                    completed.first_offset,
                    completed.last_offset,
                    completed.last_stable_offset,
                )
            )
        self.producers.complete(completed)

    # --- flush -------------------------------------------------------------------------------------------

    def flush_is_due(self, now_ms: int) -> bool:
        unflushed = self.log_end_offset - self.recovery_point
        if unflushed <= 0:
            return False
        waited_ms = now_ms - self.last_flushed_ms
        return unflushed >= self.config.flush_messages or waited_ms >= self.config.flush_ms

    def unflushed_files(self, *, rolled_only: bool = False) -> Unflushed:
        """What to sync so that everything appended until now (or before the active segment) is durable.

        The active segment's indexes are left out: recovery rebuilds those of every segment that is not wholly
        below the recovery point.
        """
        filesystem = self._open_files.filesystem
        groups = [map(segment.path, names.SEGMENT_SUFFIXES) for segment in self._unsynced_rolled]
        paths = [path for group in groups for path in group if filesystem.exists(path)]
        unflushed = Unflushed(
            filesystem,
            self.active.base_offset if rolled_only else self.log_end_offset,
            () if rolled_only else (self.active.file,),
            (*paths, *self._unsynced_paths),
            self._unsynced_directories(),
            self._unwritten_epochs(),
            tuple(self._unsynced_rolled),
            self.active.base_offset,
            self.active if self.active.cut_waits and not rolled_only else None,
        )
        self._flushes.append(unflushed)
        return unflushed

    def _unwritten_epochs(self) -> EpochsWrite | None:
        """One writer at a time: while another flush writes them, the recovery point waits for that one."""
        if any(flush.epochs is not None and not flush.done for flush in self._flushes):
            return None
        return self.leader_epochs.unflushed()

    def _unsynced_directories(self) -> tuple[str, ...]:
        """Inside first: the log's own directory appears in its parent only with its files in it."""
        if self._names_synced_through < 0:
            return self.directory, self.directory.rpartition("/")[0]
        return (self.directory,) if self.active.base_offset > self._names_synced_through else ()

    def mark_flushed(self, offset: int, now_ms: int) -> None:
        """An `Unflushed` with this offset has been synced."""
        for flush in [flush for flush in self._flushes if flush.done]:
            self._flushes.remove(flush)
            self._account(flush)
        limit = self.leader_epochs.not_durable_from
        durable = min(offset, self.log_end_offset, self.log_end_offset if limit is None else limit)
        self.recovery_point = max(self.recovery_point, durable)
        self.last_flushed_ms = now_ms

    def disown_flushes(self, offset: int) -> None:
        """The log was cut at the offset: a flush under way does not vouch for what is written there next, nor
        for the names of files."""
        for flush in self._flushes:
            flush.offset = min(flush.offset, offset)
            flush.active_base_offset = -1
            flush.cut = None
        self.recovery_point = min(self.recovery_point, offset)
        self._names_synced_through = min(self._names_synced_through, self.active.base_offset - 1)

    def _account(self, flush: Unflushed) -> None:
        self._unsynced_rolled = [each for each in self._unsynced_rolled if each not in flush.rolled]
        self._unsynced_paths = [path for path in self._unsynced_paths if path not in flush.paths]
        if flush.cut is not None:
            flush.cut.cut_waits = False
        if flush.epochs is not None:
            self.leader_epochs.mark_durable(flush.epochs.version)
        if flush.directories:
            self._names_synced_through = max(self._names_synced_through, flush.active_base_offset)

    # --- letting go --------------------------------------------------------------------------------------

    def doom(self, segments: Iterable[Segment], now_ms: int) -> None:
        """Take segments out of the log. Their files are renamed at once and removed by the owner later, so
        that readers in flight finish."""
        filesystem = self._open_files.filesystem
        due_ms = now_ms + self.config.file_delete_delay_ms
        for segment in list(segments):
            self.segments.remove(segment)
            segment.drop()
            for suffix in names.SEGMENT_SUFFIXES:
                path = segment.path(suffix)
                if filesystem.exists(path):
                    filesystem.rename(path, path + names.DELETED)
                    self._doomed.append(Doomed(path + names.DELETED, due_ms))
            snapshot = self.producers.snapshots.mark_deleted(segment.base_offset)
            if snapshot is not None:
                self._doomed.append(Doomed(snapshot, due_ms))

    def take_doomed(self) -> list[Doomed]:
        """Files to remove, each at its time. Given out once."""
        doomed, self._doomed = self._doomed, []
        return doomed

    def move_to(self, directory: str) -> None:
        """Rename the directory; open files and readers in flight do not notice."""
        self._open_files.filesystem.rename(self.directory, directory)
        self.directory = directory
        for segment in self.segments:
            segment.moved_to(directory)
        self.leader_epochs.move_to(directory)
        self.producers.snapshots.move_to(directory)

    def close(self) -> Unflushed:
        """Write what waits in memory and let the files go. The owner syncs what is returned before it leaves
        the clean mark; the parent directory, which many logs share, is its business too."""
        self.is_open = False
        self.producers.end_offset = self.log_end_offset
        self._snapshot()
        changed = self.active.seal() or self.recovery_point < self.log_end_offset
        for segment in self.segments:
            segment.persist_indexes()
        self.leader_epochs.flush()
        self._unsynced_rolled = [each for each in self._unsynced_rolled if each is not self.active]
        if changed:
            self._unsynced_rolled.append(self.active)  # with its indexes, which only a closed segment needs
        unflushed = self.unflushed_files(rolled_only=True)
        unflushed.offset = self.log_end_offset
        unflushed.directories = (self.directory,) if unflushed.paths or unflushed.directories else ()
        for segment in self.segments:
            segment.close()
        return unflushed

    def abandon(self) -> None:
        """Let the files go as they are: the log is to be deleted."""
        self.is_open = False
        for segment in self.segments:
            segment.drop()
