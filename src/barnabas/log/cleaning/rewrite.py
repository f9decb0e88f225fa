"""The work of a cleaning: segments in, `.cleaned` segments out. It sees files only, never the live log.

First the keys of the dirty part go into the offset map, then groups of old segments, small enough to make one
segment together, are rewritten one after the other. Each group is announced when it is durable, so that it
can be swapped in while the next is written, and the disk needs room for one group only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from barnabas.log.cleaning.cleaned_segment import CleanedSegment, segment_path
from barnabas.log.cleaning.job import CleaningJob, GroupCleaned, JobDone, JobFailed, Outcome
from barnabas.log.cleaning.offset_map import OffsetMap
from barnabas.log.cleaning.retention import Rules, keep
from barnabas.log.cleaning.transactions import CleanedTransactions
from barnabas.log.names import INDEX, LOG, TIME_INDEX, TRANSACTION_INDEX
from barnabas.log.transaction_index import AbortedTransaction, TransactionIndex
from barnabas.ports import File, Filesystem
from barnabas.records.batch import INT32, LENGTH_AT, LOG_OVERHEAD, BatchHeader, check_crc, headers
from barnabas.records.errors import CorruptRecordsError, RecordsError
from barnabas.records.walk import payload_of, walk_fields

_CHUNK_BYTES = 1 << 20
_RELATIVE_OFFSET_MAX = 2**31 - 1

# Told of every chunk read; may wait (to hold a rate) or raise (to give up).
Progress = Callable[[int], None]


class UncleanableError(Exception):
    """This log cannot be cleaned as it is; trying again would not help."""


def run(fs: Filesystem, job: CleaningJob, progress: Progress = lambda _bytes: None) -> Iterator[Outcome]:
    """Never raises for what is wrong with the log or the disk: the last outcome says it."""
    try:
        yield from clean(fs, job, progress)
    except (RecordsError, UncleanableError) as problem:
        yield JobFailed(job.job_id, f"{type(problem).__name__}: {problem}", uncleanable=True)
    except FileNotFoundError as gone:
        # Retention or deletion of the topic was faster; the next look at the log finds what is left.
        yield JobFailed(job.job_id, f"{gone.filename} is gone")
    except OSError as broken:
        yield JobFailed(job.job_id, str(broken), disk_error=broken.errno)


def clean(fs: Filesystem, job: CleaningJob, progress: Progress) -> Iterator[GroupCleaned | JobDone]:
    offsets = build_offset_map(fs, job, progress)
    end_offset = offsets.latest_offset + 1
    if offsets.full and end_offset <= job.first_dirty_offset:
        raise UncleanableError(
            f"The keys of the batch at offset {job.first_dirty_offset} do not fit into "
            f"{job.dedupe_buffer_bytes} bytes; increase log.cleaner.dedupe.buffer.size"
        )
    rules = Rules(
        offsets,
        job.first_uncleanable_offset,
        job.now_ms,
        job.delete_retention_ms,
        job.batch_decompressed_bytes_max,
        {producer_id: (last_data_offset, epoch) for producer_id, last_data_offset, epoch in job.producers},
    )
    bases = [base for base in job.segments if base < end_offset]
    if bases:
        transactions = CleanedTransactions(aborted_in(fs, job.directory, bases[0], end_offset))
        for group in group_segments([_sizes(fs, job.directory, base) for base in bases], job):
            yield _clean_group(fs, job, group, transactions, rules, progress)
    yield JobDone(job.job_id, max(end_offset, job.first_dirty_offset))


def build_offset_map(fs: Filesystem, job: CleaningJob, progress: Progress) -> OffsetMap:
    start, end = job.first_dirty_offset, job.first_uncleanable_offset
    offsets = OffsetMap(job.dedupe_buffer_bytes, job.dedupe_buffer_load_factor, end - start)
    transactions = CleanedTransactions(aborted_in(fs, job.directory, start, end))
    for base, following in pairwise((*job.segments, end)):
        if following <= start:
            continue
        for data, header in batches_of(fs, segment_path(job.directory, base, LOG), progress):
            if header.last_offset >= start:
                if not _map_batch(offsets, data, header, transactions, job):
                    return offsets
                offsets.latest_offset = header.last_offset
        # Offsets may be missing at the end of a segment; they are as good as seen.
        offsets.latest_offset = following - 1
    return offsets


def _map_batch(
    offsets: OffsetMap,
    data: bytes,
    header: BatchHeader,
    transactions: CleanedTransactions,
    job: CleaningJob,
) -> bool:
    """False if the map was full before the batch was through."""
    if header.is_control:
        transactions.meet_control(data, header)
        return True
    if transactions.meet_data(header):
        return True
    payload = payload_of(data, 0, header, job.batch_decompressed_bytes_max)
    base_offset, start = header.base_offset, job.first_dirty_offset
    for fields in walk_fields(payload, header.count, header.last_offset_delta):
        offset, key_start, key_end = base_offset + fields[3], fields[4], fields[5]
        if key_start >= 0 and offset >= start:
            if offsets.full:
                return False
            offsets.put(payload[key_start:key_end], offset)
    return True


class SegmentSizes(NamedTuple):
    base_offset: int
    log: int
    offset_index: int
    time_index: int


def group_segments(segments: Sequence[SegmentSizes], job: CleaningJob) -> list[list[SegmentSizes]]:
    """Neighbours that make one segment together, by size, index size and the reach of relative offsets."""
    ends = [one.base_offset for one in segments[1:]] + [job.first_uncleanable_offset]
    groups: list[list[SegmentSizes]] = []
    total = SegmentSizes(0, 0, 0, 0)
    for one, end in zip(segments, ends, strict=True):
        joined = SegmentSizes(
            total.base_offset,
            total.log + one.log,
            total.offset_index + one.offset_index,
            total.time_index + one.time_index,
        )
        fits = (
            joined.log <= job.segment_bytes
            and joined.offset_index <= job.segment_index_bytes
            and joined.time_index <= job.segment_index_bytes
            and (one.log == 0 or end - 1 - total.base_offset <= _RELATIVE_OFFSET_MAX)
        )
        if groups and fits:
            groups[-1].append(one)
            total = joined
        else:
            groups.append([one])
            total = one
    return groups


def _sizes(fs: Filesystem, directory: str, base_offset: int) -> SegmentSizes:
    sizes = []
    for suffix in (LOG, INDEX, TIME_INDEX):
        path = segment_path(directory, base_offset, suffix)
        if suffix != LOG and not fs.exists(path):
            sizes.append(0)
            continue
        file = fs.open(path)
        sizes.append(file.size())
        file.close()
    return SegmentSizes(base_offset, *sizes)


def aborted_in(fs: Filesystem, directory: str, start: int, end: int) -> list[AbortedTransaction]:
    """A transaction may have its marker segments after its batches, so every index is asked."""
    found: list[AbortedTransaction] = []
    for name in fs.list(directory):
        stem = name.removesuffix(TRANSACTION_INDEX)
        if stem != name and stem.isdigit():
            index = TransactionIndex(fs, f"{directory}/{name}", int(stem))
            found += [one for one in index.all() if one.last_offset >= start and one.first_offset < end]
            index.close()
    return found


def _clean_group(
    fs: Filesystem,
    job: CleaningJob,
    group: Sequence[SegmentSizes],
    transactions: CleanedTransactions,
    rules: Rules,
    progress: Progress,
) -> GroupCleaned:
    cleaned = CleanedSegment(fs, job.directory, group[0].base_offset, job.index_interval_bytes)
    records_before = records_after = 0
    try:
        for one in group:
            for data, header in batches_of(fs, segment_path(job.directory, one.base_offset, LOG), progress):
                kept = keep(data, header, transactions, rules)
                records_before += header.count
                records_after += kept.records
                if kept.data:
                    cleaned.add(kept, header.last_offset)
        cleaned.finish()
    finally:
        cleaned.close()
    return GroupCleaned(
        job_id=job.job_id,
        base_offset=group[0].base_offset,
        old_segments=tuple(one.base_offset for one in group),
        bytes_before=sum(one.log for one in group),
        bytes_after=cleaned.size,
        records_before=records_before,
        records_after=records_after,
    )


def batches_of(fs: Filesystem, path: str, progress: Progress) -> Iterator[tuple[bytes, BatchHeader]]:
    """Every batch of a segment file, whole and with the right checksum; CorruptRecordsError otherwise."""
    file = fs.open(path)
    try:
        position = next_offset = 0
        while position < file.size():
            chunk = _read_chunk(file, position)
            progress(len(chunk))
            with memoryview(chunk) as view:
                for at, header in headers(chunk, 0, len(chunk)):
                    check_crc(view, at, header)
                    if header.base_offset < next_offset or header.last_offset_delta < 0:
                        raise CorruptRecordsError(f"{path} goes back to offset {header.base_offset}")
                    yield chunk[at : at + header.size], header
                    position += header.size
                    next_offset = header.next_offset
    finally:
        file.close()


def _read_chunk(file: File, position: int) -> bytes:
    """At least one whole batch."""
    chunk = file.read(position, _CHUNK_BYTES)
    size = (
        LOG_OVERHEAD + INT32.unpack_from(chunk, LENGTH_AT)[0]
        if len(chunk) >= LOG_OVERHEAD
        else len(chunk) + 1
    )
    remaining = file.size() - position
    if not LOG_OVERHEAD <= size <= remaining:
        raise CorruptRecordsError(
            f"{file.path} has a batch of {size} bytes at {position}, {remaining} bytes before its end"
        )
    return chunk if size <= len(chunk) else file.read(position, size)
