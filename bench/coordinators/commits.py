"""Offset commits: members of groups, one each, that commit one partition again and again."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable

from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from bench.coordinators.ask import check, find_coordinators, framed, read
from bench.coordinators.latency import percentiles_us
from bench.coordinators.members import ClassicMember
from bench.coordinators.script import Script, Stage
from bench.coordinators.topics import Topic, topic_with_records
from bench.scale import Scale
from bench.subject import Subject

Figures = dict[str, float]
_OFFSET = struct.Struct(">q")
_SOME_OFFSET = 0x0123_4567_89AB_CDEF  # to find the field in the frame: the request is encoded once


class Committer(ClassicMember):
    """Commits from its first generation on, one request in flight, until it is told to leave."""

    def __init__(self, group: str, topic: Topic) -> None:
        super().__init__(group, topic, heartbeat_s=3.0)
        self.seconds: list[float] = []
        self.is_ready = False

    def script(self) -> Script:
        while (yield from self.join_group()) is None:
            pass
        request = self._request(_SOME_OFFSET)
        frame = framed(request)
        offset_at = frame.index(_OFFSET.pack(_SOME_OFFSET))
        # The first answer is read; every other must be the same, byte for byte.
        first = yield frame
        answer = read(OffsetCommitRequest, OffsetCommitResponse, first)
        check(answer.topics[0].partitions[0].error_code, "OffsetCommit")
        self.is_ready = True
        offset = 0
        while not self.is_leaving:
            offset += 1
            _OFFSET.pack_into(frame, offset_at, offset)
            asked_at = time.perf_counter()
            reply = yield frame
            self.seconds.append(time.perf_counter() - asked_at)
            if reply != first:
                raise RuntimeError(f"OffsetCommit was answered with {reply!r}")
        yield from self.leave_group()

    def _request(self, offset: int) -> OffsetCommitRequest:
        partition = OffsetCommitRequestPartition(0, offset, committed_metadata="")
        topic = OffsetCommitRequestTopic(name=self.topic, partitions=[partition])
        return OffsetCommitRequest(self.group, self.generation, self.member_id, topics=[topic])


def commits(members: int) -> Callable[[Subject, Scale], Figures]:
    """As many groups as members, so that the commits spread over the partitions of the internal topic."""

    def run(subject: Subject, scale: Scale) -> Figures:
        topic = topic_with_records(subject, f"commits-{members}", 1)
        groups = [f"{topic.name}-group-{number}" for number in range(members)]
        find_coordinators(subject.port, groups)
        with Stage(subject.port) as stage:
            return _measure(stage, subject, [Committer(group, topic) for group in groups], scale.seconds)

    return run


def _measure(stage: Stage, subject: Subject, committers: list[Committer], seconds: float) -> Figures:
    tasks = stage.start_all(committer.script() for committer in committers)
    stage.run_until(lambda: all(each.is_ready for each in committers), "the first commits")
    stage.run_for(seconds)
    for committer in committers:
        committer.seconds.clear()
    meter = subject.meter()
    elapsed_s = stage.run_for(seconds)
    cpu_s = meter.seconds()
    latencies_s = [each for committer in committers for each in committer.seconds]
    for committer in committers:
        committer.is_leaving = True
    stage.run_until(lambda: all(task.is_finished for task in tasks), "leaving")
    return {
        "rate": len(latencies_s) / elapsed_s,
        "CPU per commit": cpu_s / len(latencies_s) * 1e6,
        **percentiles_us(latencies_s),
    }
