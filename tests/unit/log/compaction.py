"""A partition on disk, made of real batches, for the tests of compaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from barnabas.log.cleaning.cleaned_segment import segment_path
from barnabas.log.cleaning.job import CleaningJob, GroupCleaned, JobDone, Outcome
from barnabas.log.cleaning.rewrite import batches_of, run
from barnabas.log.cleaning.swap import swap_in
from barnabas.log.transaction_index import AbortedTransaction, TransactionIndex
from barnabas.ports import Filesystem
from barnabas.records.batch import BatchHeader
from barnabas.records.build import build_batch
from barnabas.records.control import EndTransactionMarker, build_marker
from barnabas.records.walk import Record, records_of

START_MS = 1_700_000_000_000
RETENTION_MS = 1000
LIMIT = 1 << 20


class Partition:
    """Write batches, `roll` where a segment ends, `store`; the last segment is the active one."""

    def __init__(self, fs: Filesystem, directory: str = "/t-0") -> None:
        self.fs = fs
        self.directory = directory
        self.segments: dict[int, list[bytes]] = {0: []}
        self.aborted: dict[int, list[AbortedTransaction]] = {}
        self.next_offset = 0
        self.clean_offset = 0
        self.producers: tuple[tuple[int, int, int], ...] = ()
        self.dedupe_buffer_bytes = 1 << 20
        self.segment_bytes = 1 << 20

    @property
    def active(self) -> int:
        return max(self.segments)

    def write(self, *pairs: tuple[bytes | None, bytes | None], **fields: int) -> int:
        """One batch; returns its first offset."""
        first = self.next_offset
        records = [
            Record(first + at, START_MS + first + at, key, value, (("h", b"1"),) if at % 2 else ())
            for at, (key, value) in enumerate(pairs)
        ]
        self._add(build_batch(records, base_offset=first, **fields), len(pairs))  # type: ignore[arg-type]
        return first

    def end_transaction(self, producer_id: int, *, first_offset: int | None = None, committed: bool) -> None:
        """With `first_offset` the abort enters the transaction index, as the log would do it."""
        offset = self.next_offset
        marker = build_marker(
            EndTransactionMarker(committed, 0),
            producer_id=producer_id,
            producer_epoch=0,
            timestamp=START_MS + offset,
            base_offset=offset,
        )
        self._add(marker, 1)
        if first_offset is not None:
            aborted = AbortedTransaction(producer_id, first_offset, offset, offset + 1)
            self.aborted.setdefault(self.active, []).append(aborted)

    def _add(self, batch: bytearray, count: int) -> None:
        self.segments[self.active].append(bytes(batch))
        self.next_offset += count

    def roll(self) -> None:
        self.segments.setdefault(self.next_offset, [])

    def store(self) -> None:
        self.fs.make_directories(self.directory)
        for base, batches in self.segments.items():
            for suffix, data in ((".log", b"".join(batches)), (".index", b""), (".timeindex", b"")):
                self.fs.write_bytes_durably(segment_path(self.directory, base, suffix), data)
        for base, aborted in self.aborted.items():
            index = TransactionIndex(self.fs, segment_path(self.directory, base, ".txnindex"), base)
            for one in aborted:
                index.append(one)
            index.sync()
            index.close()
        self.fs.sync_directory(self.directory)
        self.fs.sync_directory(self.directory.rpartition("/")[0] or "/")

    # --- cleaning ----------------------------------------------------------------------------------------

    def bases(self) -> list[int]:
        return [int(name[:20]) for name in self.fs.list(self.directory) if name.endswith(".log")]

    def job(self, now_ms: int = START_MS) -> CleaningJob:
        return CleaningJob(
            job_id=1,
            partition="t-0",
            directory=self.directory,
            segments=tuple(base for base in self.bases() if base < self.active),
            first_dirty_offset=self.clean_offset,
            first_uncleanable_offset=self.active,
            now_ms=now_ms,
            delete_retention_ms=RETENTION_MS,
            segment_bytes=self.segment_bytes,
            segment_index_bytes=1 << 20,
            index_interval_bytes=100,
            dedupe_buffer_bytes=self.dedupe_buffer_bytes,
            producers=self.producers,
        )

    def compact(
        self, now_ms: int = START_MS, runner: Callable[[CleaningJob], Sequence[Outcome]] | None = None
    ) -> list[Outcome]:
        """One round: clean, swap in, remember how far it came."""
        outcomes: list[Outcome] = []
        job = self.job(now_ms)
        for outcome in runner(job) if runner is not None else run(self.fs, job):
            outcomes.append(outcome)
            if isinstance(outcome, GroupCleaned):
                deleted = swap_in(self.fs, self.directory, outcome.base_offset, outcome.old_segments)
                for path in deleted:
                    self.fs.remove(path)
                self.fs.sync_directory(self.directory)
            elif isinstance(outcome, JobDone):
                self.clean_offset = outcome.end_offset
        return outcomes

    def compact_again(self, now_ms: int = START_MS) -> None:
        """As if everything were dirty: a log without news is not cleaned."""
        self.clean_offset = 0
        self.compact_fully(now_ms)

    def compact_fully(self, now_ms: int = START_MS) -> None:
        while True:
            *_, last = self.compact(now_ms)
            assert isinstance(last, JobDone), last
            if last.end_offset == self.active:
                return

    # --- reading back ------------------------------------------------------------------------------------

    def batches(self) -> list[tuple[bytes, BatchHeader]]:
        return [
            batch
            for base in self.bases()
            for batch in batches_of(self.fs, segment_path(self.directory, base, ".log"), lambda _: None)
        ]

    def records(self) -> list[Record]:
        return [
            record
            for data, header in self.batches()
            if not header.is_control
            for record in records_of(data, 0, header, LIMIT)
        ]

    def controls(self) -> list[BatchHeader]:
        return [header for _, header in self.batches() if header.is_control]

    def table(self) -> dict[bytes | None, bytes | None]:
        """What a consumer that reads everything ends up with."""
        table = {record.key: record.value for record in self.records()}
        return {key: value for key, value in table.items() if value is not None}
