"""Opening a log directory, after a clean stop or a crash.

A clean stop wrote everything, so only the last segment's end is looked at. After a crash every segment that
is not wholly below the recovery point is read batch by batch, cut at the first bad byte, and its indexes and
the producers' state are rebuilt; segments behind a cut go.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from barnabas.log import leftovers, names
from barnabas.log.config import LogConfig
from barnabas.log.core import LogCore, Parts, no_jitter, nobody_cares
from barnabas.log.leader_epochs import LeaderEpochs
from barnabas.log.log import Log
from barnabas.log.open_files import OpenFiles
from barnabas.log.partition_metadata import read_topic_id, write_topic_id
from barnabas.log.producer_state import ProducerSettings, ProducerStates
from barnabas.log.recovery import recover_segment
from barnabas.log.replay import rebuild_producers
from barnabas.log.segment import Segment
from barnabas.log.segments import Segments
from barnabas.log.transaction_index import CorruptTransactionIndexError
from barnabas.model.ids import TopicPartition

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opening:
    """Where a log is and what its directory's checkpoints say about it."""

    topic_partition: TopicPartition
    directory: str
    config: LogConfig
    now_ms: int
    log_start_offset: int = 0
    recovery_point: int = 0
    clean: bool = False
    topic_id: bytes | None = None
    producer_settings: ProducerSettings = field(default_factory=ProducerSettings)
    jitter: Callable[[int], int] = no_jitter
    sync_soon: Callable[[LogCore], None] = nobody_cares


def open_log(open_files: OpenFiles, opening: Opening) -> Log:
    """Open or create. Anything but a failing disk is put right, with a warning."""
    filesystem = open_files.filesystem
    directory = opening.directory
    if not filesystem.is_directory(directory):
        filesystem.make_directories(directory)
    if not filesystem.list(directory):
        return _new_log(open_files, opening)
    leftovers.settle(filesystem, directory)
    segments = _load_segments(open_files, opening)
    stopped_cleanly = opening.clean and len(segments) > 0
    leader_epochs = LeaderEpochs(filesystem, directory)
    if leader_epochs.problem is not None:
        _LOG.warning("%s", leader_epochs.problem)
    end_offset = _recover(open_files, opening, segments, leader_epochs)
    log_start_offset = max(opening.log_start_offset, segments.first.base_offset)
    leader_epochs.truncate_from_end(end_offset)
    leader_epochs.truncate_from_start(log_start_offset)
    producers = ProducerStates(filesystem, directory, str(opening.topic_partition), opening.producer_settings)
    producers.remove_stray_snapshots(segments.base_offsets)
    rebuild_producers(producers, segments, log_start_offset, end_offset, opening.now_ms)
    return _log(
        open_files,
        opening,
        segments,
        leader_epochs,
        producers,
        _Extent(log_start_offset, end_offset, stopped_cleanly),
        read_topic_id(filesystem, directory),
    )


def _new_log(open_files: OpenFiles, opening: Opening) -> Log:
    """In a folder with nothing in it: nothing to look for, nothing to put right. Topics come by the thousand
    partitions, and most of what opening a log costs is looking."""
    filesystem, directory, start = open_files.filesystem, opening.directory, opening.log_start_offset
    segments = Segments([Segment.create(open_files, directory, start, opening.config, opening.now_ms)])
    leader_epochs = LeaderEpochs(filesystem, directory)
    producers = ProducerStates(
        filesystem, directory, str(opening.topic_partition), opening.producer_settings, is_new=True
    )
    producers.on_log_start_offset(start)
    extent = _Extent(start, start, stopped_cleanly=False)
    return _log(open_files, opening, segments, leader_epochs, producers, extent, None)


class _Extent(NamedTuple):
    start: int
    end: int
    stopped_cleanly: bool


def _log(
    open_files: OpenFiles,
    opening: Opening,
    segments: Segments,
    leader_epochs: LeaderEpochs,
    producers: ProducerStates,
    extent: _Extent,
    topic_id: bytes | None,
) -> Log:
    unsynced_paths: tuple[str, ...] = ()
    if topic_id is None and opening.topic_id is not None:
        topic_id = opening.topic_id
        unsynced_paths = (write_topic_id(open_files.filesystem, opening.directory, topic_id),)
    parts = Parts(
        opening.topic_partition,
        opening.directory,
        opening.config,
        open_files,
        segments,
        leader_epochs,
        producers,
        extent.start,
        extent.end,
        extent.end if opening.clean else min(opening.recovery_point, extent.end),
        opening.now_ms,
        extent.stopped_cleanly,
        unsynced_paths,
        topic_id,
        opening.jitter,
        opening.sync_soon,
    )
    return Log(parts)


def _load_segments(open_files: OpenFiles, opening: Opening) -> Segments:
    filesystem, directory = open_files.filesystem, opening.directory
    files = filesystem.list(directory)
    parsed = {name: names.parse_offset_file(name) for name in files}
    bases = sorted(found[0] for found in parsed.values() if found is not None and found[1] == names.LOG)
    for name, found in parsed.items():
        if found is not None and found[1] not in (names.LOG, names.SNAPSHOT) and found[0] not in bases:
            _LOG.warning("Removing %s/%s: it has no log file", directory, name)
            filesystem.remove(f"{directory}/{name}")
        elif found is None and not _known(name):
            _LOG.warning("Ignoring %s/%s: not a file of a log", directory, name)
    return Segments(
        [Segment.existing(open_files, directory, base, opening.config, opening.now_ms) for base in bases]
    )


def _known(name: str) -> bool:
    return name.removesuffix(".tmp") in (names.LEADER_EPOCHS, names.PARTITION_METADATA)


# --- recovery --------------------------------------------------------------------------------------------


def _recover(open_files: OpenFiles, opening: Opening, segments: Segments, leader_epochs: LeaderEpochs) -> int:
    """Leaves at least one segment. Returns the log end offset."""
    if len(segments):
        suspects = _suspects(opening, segments)
        _recover_segments(open_files, opening, segments, suspects, leader_epochs)
        end_offset, end_position = segments.last.end()
        if end_position < segments.last.size:
            # Even a clean stop can be followed by a torn disk.
            _recover_segments(open_files, opening, segments, [segments.last], leader_epochs)
            end_offset, _ = segments.last.end()
        if end_offset >= opening.log_start_offset:
            return end_offset
        _LOG.warning(
            "Deleting all segments of %s: the log end offset %d is smaller than the log start offset %d",
            opening.directory,
            end_offset,
            opening.log_start_offset,
        )
        _remove_segments(open_files, segments, list(segments))
        leader_epochs.clear()
    segments.add(
        Segment.create(
            open_files, opening.directory, opening.log_start_offset, opening.config, opening.now_ms
        )
    )
    return opening.log_start_offset


def _suspects(opening: Opening, segments: Segments) -> list[Segment]:
    """From the first segment that nobody vouches for; after a clean stop, only bad transaction indexes."""
    unflushed = [] if opening.clean else segments.from_offset(opening.recovery_point)
    damaged = [segment for segment in segments if _damaged(segment)]
    return sorted({*unflushed, *damaged}, key=lambda segment: segment.base_offset)


def _damaged(segment: Segment) -> bool:
    if not segment.has_transaction_index():
        return False
    try:
        segment.transaction_index.check()
    except CorruptTransactionIndexError as problem:
        _LOG.warning("Recovering %s: %s", segment.path(names.LOG), problem)
        return True
    return False


def _recover_segments(
    open_files: OpenFiles,
    opening: Opening,
    segments: Segments,
    suspects: list[Segment],
    leader_epochs: LeaderEpochs,
) -> None:
    filesystem, directory = open_files.filesystem, opening.directory
    for segment in suspects:
        _LOG.info("Recovering segment %s", segment.path(names.LOG))
        producers = ProducerStates(
            filesystem, directory, str(opening.topic_partition), opening.producer_settings
        )
        log_start_offset = max(opening.log_start_offset, segments.first.base_offset)
        base_offset = max(segment.base_offset, log_start_offset)
        rebuild_producers(producers, segments, log_start_offset, base_offset, opening.now_ms)
        cut = recover_segment(segment, producers, leader_epochs)
        # The next segment's recovery starts from here instead of replaying this one.
        producers.take_snapshot(sync=False)
        if cut or _ends_early(opening, segments, segment, producers.end_offset):
            later = [each for each in segments if each.base_offset > segment.base_offset]
            _remove_segments(open_files, segments, later)
            segment.sync_cut()
            return


def _ends_early(opening: Opening, segments: Segments, segment: Segment, end_offset: int) -> bool:
    """Power loss can take whole batches and leave the next segment. Only compaction makes honest holes."""
    following = segments.after(segment)
    if opening.clean or opening.config.compact or following is None:
        return False
    return end_offset < following.base_offset


def _remove_segments(open_files: OpenFiles, segments: Segments, going: list[Segment]) -> None:
    filesystem = open_files.filesystem
    for segment in going:
        _LOG.warning("Removing segment %s", segment.path(names.LOG))
        segments.remove(segment)
        segment.drop()
        for suffix in (*names.SEGMENT_SUFFIXES, names.SNAPSHOT):
            if filesystem.exists(segment.path(suffix)):
                filesystem.remove(segment.path(suffix))
