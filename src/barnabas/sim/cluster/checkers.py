"""What must never be seen of a cluster, beside what must never be seen of any broker."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.model.ids import TopicPartition
from barnabas.sim.checkers import Checker, Facts
from barnabas.sim.cluster_events import Deleted, DirectoriesFound, LogFound, StateFound, StateWritten
from barnabas.sim.history import Found, Seen

NOBODY = -1


class NothingReadVanishes:
    """What a consumer has read stays: the high watermark that let it through was true."""

    def check(self, facts: Facts) -> Iterator[str]:
        for seen in facts.of(Seen):
            values = facts.final_values.get(seen.place, {})
            for record in seen.records:
                if record.offset >= facts.final_start.get(seen.place, 0) and record.offset not in values:
                    yield f"{seen.consumer} read {seen.place} {record.offset}, which is gone"


class CommittedStays:
    """The log never ends below a high watermark that somebody was told; nothing at or above it is shown."""

    def check(self, facts: Facts) -> Iterator[str]:
        ends = {seen.place: seen.high_watermark for seen in facts.of(Seen) if seen.final and not seen.error}
        told: dict[TopicPartition, int] = {}
        for seen in facts.of(Seen):
            if not seen.error:
                told[seen.place] = max(told.get(seen.place, 0), seen.high_watermark)
            if seen.records and seen.records[-1].offset >= seen.high_watermark:
                yield f"{seen.consumer}: {seen.place} shows {seen.records[-1].offset}, not yet committed"
        for place, highest in told.items():
            if ends.get(place, highest) < highest:
                yield f"{place} was committed up to {highest}, and ends at {ends[place]}"


class LogsMatch:
    """One leader per epoch writes the log: whoever holds a batch of an epoch at an offset holds the same one,
    whenever one looks."""

    def check(self, facts: Facts) -> Iterator[str]:
        known: dict[tuple[str, TopicPartition, int, int], tuple[int, int]] = {}
        for log in facts.of(LogFound):
            for batch in log.batches:
                where = (log.topic_id, log.place, batch.base_offset, batch.leader_epoch)
                checksum, broker = known.setdefault(where, (batch.checksum, log.broker))
                if checksum != batch.checksum:
                    yield (
                        f"{log.place} offset {batch.base_offset} of epoch {batch.leader_epoch} differs on "
                        f"brokers {broker} and {log.broker}"
                    )


class ReplicasAgree:
    """Below the high watermark, all replicas hold the same bytes in the end."""

    def check(self, facts: Facts) -> Iterator[str]:
        logs: dict[TopicPartition, list[LogFound]] = {}
        for log in facts.of(LogFound):
            if log.final:
                logs.setdefault(log.place, []).append(log)
        for place, replicas in logs.items():
            committed = min(log.high_watermark for log in replicas)
            held = {
                log.broker: [batch for batch in log.batches if batch.next_offset <= committed]
                for log in replicas
            }
            first = replicas[0].broker
            for broker, batches in held.items():
                if batches != held[first]:
                    yield f"{place} differs on brokers {first} and {broker} below {committed}"


class StatesFollow:
    """Only whoever is the controller writes them. Leader epochs and partition epochs rise; an epoch has one
    leader, who is in sync; and nobody is elected who was neither in sync nor eligible before."""

    def check(self, facts: Facts) -> Iterator[str]:
        last: dict[tuple[TopicPartition, str], StateWritten] = {}
        for written in facts.of(StateWritten):
            if written.controller_epoch != written.present_epoch:
                yield f"{written.place}: {written.controller_epoch} writes in epoch {written.present_epoch}"
            before = last.get((written.place, written.topic_id))
            last[written.place, written.topic_id] = written
            if before is not None:
                yield from self._compare(before, written)
            if written.leader != NOBODY and written.leader not in written.isr:
                yield f"{written.place}: leader {written.leader} is not in sync {list(written.isr)}"

    def _compare(self, before: StateWritten, after: StateWritten) -> Iterator[str]:
        place = after.place
        if after.version <= before.version or after.leader_epoch < before.leader_epoch:
            yield f"{place}: {_epochs(before)} is followed by {_epochs(after)}"
        if after.leader_epoch == before.leader_epoch and after.leader != before.leader:
            yield f"{place}: {before.leader} and {after.leader} both lead epoch {after.leader_epoch}"
        # The last new replica of a move may come into sync and follow the leader that leaves, in one write.
        has_moved = before.leader in before.isr and before.leader not in after.replicas
        if after.leader not in (NOBODY, before.leader, *before.isr, *before.eligible) and not has_moved:
            yield f"{place}: {after.leader} is elected, who was not in {list(before.isr)}"


def _epochs(state: StateWritten) -> str:
    return f"(version {state.version}, leader epoch {state.leader_epoch})"


class ClusterHeals:
    """When nothing goes wrong any more, every partition has a leader and all its replicas in sync."""

    def check(self, facts: Facts) -> Iterator[str]:
        for found in facts.of(StateFound):
            if found.leader == NOBODY or set(found.isr) != set(found.replicas):
                yield (
                    f"{found.place} has leader {found.leader} and in sync {list(found.isr)} of "
                    f"{list(found.replicas)}"
                )


class Beside:
    """Holds for all topics but one."""

    def __init__(self, checker: Checker, topic: str) -> None:
        self._checker = checker
        self._topic = topic

    def check(self, facts: Facts) -> Iterator[str]:
        for sentence in self._checker.check(facts.beside(self._topic)):
            yield f"{type(self._checker).__name__}: {sentence}"


class MovesEnd:
    """When nothing goes wrong any more, every replica that moves arrives, and what it left goes."""

    def check(self, facts: Facts) -> Iterator[str]:
        placed = {found.place: found for found in facts.of(StateFound)}
        for found in placed.values():
            if found.moving:
                yield f"{found.place} is still on the move: {list(found.moving)} of {list(found.replicas)}"
        for left in facts.of(DirectoriesFound):
            for place in left.places:
                if place in placed and left.broker not in placed[place].replicas:
                    yield f"broker {left.broker} still holds {place}, which moved away"


class DeletedStaysDeleted:
    """A deleted topic is in no broker's answer and on nobody's disk."""

    def check(self, facts: Facts) -> Iterator[str]:
        deleted = {one.topic for one in facts.of(Deleted)}
        for found in facts.of(Found):
            for topic in sorted(deleted & found.topics.keys()):
                yield f"{topic} was deleted, and is there"
        for left in facts.of(DirectoriesFound):
            for place in left.places:
                if place.topic in deleted:
                    yield f"broker {left.broker} still holds {place}"
