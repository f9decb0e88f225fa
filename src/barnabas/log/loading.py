"""Opening a log directory, after a clean stop or a crash."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.log import names
from barnabas.log.config import LogConfig
from barnabas.log.leader_epochs import LeaderEpochs
from barnabas.log.log import Log
from barnabas.log.open_files import OpenFiles
from barnabas.log.segment import Segment
from barnabas.log.segments import Segments
from barnabas.model.ids import TopicPartition


def open_log(
    open_files: OpenFiles,
    directory: str,
    topic_partition: TopicPartition,
    config: LogConfig,
    *,
    now_ms: int,
    log_start_offset: int = 0,
    recovery_point: int = 0,
    clean: bool = True,
    topic_id: bytes | None = None,
    jitter: Callable[[int], int] = lambda _bound: 0,
) -> Log:
    filesystem = open_files.filesystem
    filesystem.make_directories(directory)
    segments = Segments()
    for name in filesystem.list(directory):
        parsed = names.parse_offset_file(name)
        if parsed is not None and parsed[1] == names.LOG:
            segments.add(Segment.existing(open_files, directory, parsed[0], config, now_ms))
    if not len(segments):
        segments.add(Segment.create(open_files, directory, log_start_offset, config, now_ms))
    end_offset = segments.last.next_offset()
    return Log(
        topic_partition,
        directory,
        config,
        open_files,
        segments,
        LeaderEpochs(filesystem, directory),
        log_start_offset=max(log_start_offset, segments.first.base_offset),
        log_end_offset=end_offset,
        recovery_point=end_offset if clean else min(recovery_point, end_offset),
        now_ms=now_ms,
        topic_id=topic_id,
        jitter=jitter,
    )
