"""How long a group takes, from joining to everybody's first record, and from one leaving to reading again.

Connections are open and the coordinator is known when the clock starts. It stops when every partition is
held by a member that has read a record of it since it was assigned; there are as many partitions as members
at first, so everybody has one.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from bench.coordinators.ask import find_coordinators
from bench.coordinators.members import Member, MemberKind
from bench.coordinators.script import Stage, Task
from bench.coordinators.topics import Topic, topic_with_records
from bench.scale import Scale
from bench.subject import Subject

Figures = dict[str, float]
LEAVING_OF = 10
# Where the broker does not set the pace: often, because a rebalance is only noticed at a heartbeat.
HEARTBEAT_S = 0.02
DEFAULT_HEARTBEAT_S = 3.0
DEFAULTS: dict[str, object] = {
    "group.initial.rebalance.delay.ms": 3_000,
    "group.consumer.heartbeat.interval.ms": 5_000,
    "group.consumer.min.heartbeat.interval.ms": 5_000,
    "group.consumer.assignment.interval.ms": 1_000,
}


@dataclass(slots=True)
class Group:
    """Members on a stage, with their connections."""

    stage: Stage
    members: list[Member]
    tasks: list[Task]
    partitions: frozenset[int]

    @classmethod
    def of(
        cls, stage: Stage, name: str, topic: Topic, kind: MemberKind, count: int, heartbeat_s: float
    ) -> Group:
        members = [kind(name, topic, heartbeat_s) for _ in range(count)]
        tasks = [stage.add(member.script()) for member in members]
        return cls(stage, members, tasks, frozenset(range(topic.partitions)))

    def join(self) -> float:
        """Seconds until everybody reads."""
        started_at = time.perf_counter()
        for task in self.tasks:
            task.start()
        return self.stage.run_until(self._everybody_reads, "everybody's first record") - started_at

    def lose_one(self, *, others_notice_at_once: bool) -> float:
        """Seconds from the last member's word to all partitions being read by the others. A rebalance is
        noticed at a heartbeat; when everybody beats as soon as the one has left, no wait hides the broker.
        """
        leaver, connection = self.members.pop(), self.tasks.pop()
        leaver.is_leaving = True
        started_at = time.perf_counter()
        connection.wake()
        self.stage.run_until(lambda: connection.is_finished, "one member's leaving")
        if others_notice_at_once:
            for task in self.tasks:
                task.wake()
        return self.stage.run_until(self._all_is_read, "reading again after one left") - started_at

    def disband(self) -> None:
        for member, task in zip(self.members, self.tasks, strict=True):
            member.is_leaving = True
            task.wake()
        self.stage.run_until(lambda: all(task.is_finished for task in self.tasks), "leaving")

    def _everybody_reads(self) -> bool:
        return all(member.holds for member in self.members) and self._all_is_read()

    def _all_is_read(self) -> bool:
        return frozenset().union(*(member.holds for member in self.members)) == self.partitions


def join(kind: MemberKind, count: int) -> Callable[[Subject, Scale], Figures]:
    """The first group warms up; the figures are the median time and the mean CPU of the rest."""

    def run(subject: Subject, scale: Scale) -> Figures:
        topic = topic_with_records(subject, f"join-{kind.__name__}-{count}", count)
        groups = _group_names(subject, topic, max(5, scale.records(400) // (10 + count)))
        seconds, cpu_s = [], 0.0
        for name in groups:
            meter = subject.meter()
            seconds.append(_join_once(subject, name, topic, kind))
            cpu_s += meter.seconds() if name != groups[0] else 0.0
        return {"time": statistics.median(seconds[1:]) * 1e3, "CPU": cpu_s / (len(groups) - 1) * 1e3}

    return run


def leave(kind: MemberKind) -> Callable[[Subject, Scale], Figures]:
    def run(subject: Subject, scale: Scale) -> Figures:
        topic = topic_with_records(subject, f"leave-{kind.__name__}", LEAVING_OF)
        groups = _group_names(subject, topic, max(5, scale.records(20)))
        left = [_leave_once(subject, name, topic, kind) for name in groups][1:]
        return {
            "time": statistics.median(seconds for seconds, _ in left) * 1e3,
            "CPU": statistics.mean(cpu_s for _, cpu_s in left) * 1e3,
        }

    return run


def with_default_timing(kind: MemberKind) -> Callable[[Subject, Scale], Figures]:
    """On a broker of its own with Kafka's defaults: what users see, most of it waiting that the settings ask
    for.
    """

    def run(subject: Subject, scale: Scale) -> Figures:
        with subject.sibling(DEFAULTS) as fresh:
            figures: Figures = {}
            for count in (1, LEAVING_OF, 50):
                topic = topic_with_records(fresh, f"default-{count}", count)
                (name,) = _group_names(fresh, topic, 1)
                figures |= _with_default_timing(fresh, name, topic, kind)
            return figures

    return run


def _with_default_timing(subject: Subject, name: str, topic: Topic, kind: MemberKind) -> Figures:
    count = topic.partitions
    with Stage(subject.port) as stage:
        group = Group.of(stage, name, topic, kind, count, DEFAULT_HEARTBEAT_S)
        figures = {f"join {count}": group.join()}
        if count == LEAVING_OF:
            figures["leave"] = statistics.mean(_leave_at_some_moment(stage, group) for _ in range(3))
        group.disband()
    return figures


def _leave_at_some_moment(stage: Stage, group: Group) -> float:
    """How long it takes depends on whose heartbeat comes next, and when; so at another moment each time."""
    stage.run_for(1.7)
    return group.lose_one(others_notice_at_once=False)


def _join_once(subject: Subject, name: str, topic: Topic, kind: MemberKind) -> float:
    with Stage(subject.port) as stage:
        group = Group.of(stage, name, topic, kind, topic.partitions, HEARTBEAT_S)
        seconds = group.join()
        group.disband()
    return seconds


def _leave_once(subject: Subject, name: str, topic: Topic, kind: MemberKind) -> tuple[float, float]:
    with Stage(subject.port) as stage:
        group = Group.of(stage, name, topic, kind, LEAVING_OF, HEARTBEAT_S)
        group.join()
        stage.run_for(4 * HEARTBEAT_S)
        meter = subject.meter()
        seconds = group.lose_one(others_notice_at_once=True)
        cpu_s = meter.seconds()
        group.disband()
    return seconds, cpu_s


def _group_names(subject: Subject, topic: Topic, count: int) -> list[str]:
    names = [f"{topic.name}-group-{number}" for number in range(count)]
    find_coordinators(subject.port, names)
    return names
