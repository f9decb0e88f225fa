"""What must never be seen of consumer groups: in their polls, their offsets and their rest."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import TypeAlias

from barnabas.model.ids import TopicPartition
from barnabas.sim.checkers import Facts
from barnabas.sim.cluster_events import DeposedAsked, StateWritten
from barnabas.sim.history import (
    Assigned,
    CommitAcknowledged,
    CommitAsked,
    CommitRefused,
    Ended,
    Event,
    Fate,
    GroupFound,
    OffsetsAsked,
    OffsetsRead,
    Seen,
)

_STABLE = "Stable"


class PollsInOrder:
    """Non-monotonic poll: as long as a consumer keeps a partition, offsets only rise."""

    def check(self, facts: Facts) -> Iterator[str]:
        last: dict[tuple[str, TopicPartition], int] = {}
        for event in facts.events:
            if isinstance(event, Assigned):
                for place, _ in event.positions:
                    last.pop((event.member, place), None)
            elif isinstance(event, Seen):
                who = (event.consumer, event.place)
                for record in event.records:
                    if record.offset <= last.get(who, -1):
                        yield f"{event.consumer}: {event.place} shows {record.offset} after {last[who]}"
                    last[who] = record.offset


class NoPollSkip:
    """As long as a consumer keeps a partition, it gets every record that is there in the end."""

    def check(self, facts: Facts) -> Iterator[str]:
        expected: dict[tuple[str, TopicPartition], int] = {}
        for event in facts.events:
            if isinstance(event, Assigned):
                for place, position in event.positions:
                    expected[event.member, place] = position
            elif isinstance(event, Seen) and not event.final:
                who = (event.consumer, event.place)
                visible = facts.offsets(event.place, read_committed=event.read_committed)
                for record in event.records:
                    start = expected.get(who, event.asked_offset)
                    at = bisect_left(visible, start)
                    if at < len(visible) and visible[at] < record.offset:
                        yield f"{event.consumer}: {event.place} shows {record.offset}, not {visible[at]}"
                    expected[who] = record.offset + 1


class NothingUnseen:
    """After healing: every record that is there in the end was seen by every group that reads it."""

    def check(self, facts: Facts) -> Iterator[str]:
        group_of = {one.member: one.group for one in facts.of(Assigned)}
        seen: dict[tuple[str, TopicPartition], set[int]] = {}
        stable: set[str] = set()
        for event in facts.of(Seen):
            group = group_of.get(event.consumer)
            if group is not None:
                seen.setdefault((group, event.place), set()).update(one.offset for one in event.records)
                if event.read_committed:
                    stable.add(group)
        for (group, place), offsets in seen.items():
            visible = facts.offsets(place, read_committed=group in stable)
            missed = [offset for offset in visible if offset not in offsets]
            if missed:
                yield f"{group} never saw {place} {missed[0]} ({len(missed)} records in all)"


Where: TypeAlias = tuple[str, TopicPartition]  # in which group
Kept: TypeAlias = dict[Where, tuple[int, CommitAsked]]
Floors: TypeAlias = dict[TopicPartition, tuple[int, CommitAsked]]


class CommitsAreKept:
    """Whoever asks after a commit was acknowledged gets that offset, or a later one that was asked for. A
    commit that was never answered may come late and win, against the same member in the same generation:
    commits have no sequence. A coordinator that has not heard of its successor knows what was acknowledged
    before that one was elected."""

    def check(self, facts: Facts) -> Iterator[str]:
        kept: Kept = {}
        asked: dict[Where, dict[int, list[CommitAsked]]] = {}
        answered: set[int] = set()
        floors = _FloorsAsked()
        transactions: dict[str, list[CommitAsked]] = {}
        for event in facts.events:
            floors.follow(event, kept)
            if isinstance(event, CommitAsked):
                for place, offset in event.offsets:
                    asked.setdefault((event.group, place), {}).setdefault(offset, []).append(event)
                transactions.setdefault(event.transaction, []).append(event)
            elif isinstance(event, CommitAcknowledged | CommitRefused):
                answered.add(id(event.asked))
                if isinstance(event, CommitAcknowledged) and not event.asked.transaction:
                    _keep(kept, event.asked)
            elif isinstance(event, Ended) and event.fate is Fate.COMMITTED:
                for one in transactions.get(event.transaction, ()):
                    _keep(kept, one)
            elif isinstance(event, OffsetsRead):
                yield from _judge(event, floors.of(event.asked), asked, answered)


class _FloorsAsked:
    """What the answer to each question must reach."""

    def __init__(self) -> None:
        self._floors: dict[int, Floors] = {}
        self._last: dict[str, OffsetsAsked] = {}  # by member: each asks one thing at a time
        self._elected: dict[TopicPartition, dict[int, Kept]] = {}  # what was kept then, by leader epoch

    def of(self, asked: OffsetsAsked) -> Floors:
        return self._floors[id(asked)]

    def follow(self, event: Event, kept: Kept) -> None:
        match event:
            case OffsetsAsked():
                self._last[event.member] = event
                self._floors[id(event)] = _floors_in(kept, event)
            case StateWritten() if event.leader_epoch not in self._elected.get(event.place, {}):
                self._elected.setdefault(event.place, {})[event.leader_epoch] = dict(kept)
            case DeposedAsked():
                self._lower(event)

    def _lower(self, event: DeposedAsked) -> None:
        elected = self._elected[event.place]
        asked = self._last[event.client]
        successor_epoch = min(epoch for epoch in elected if epoch > event.leader_epoch)
        then, now = _floors_in(elected[successor_epoch], asked), self.of(asked)
        self._floors[id(asked)] = {
            place: min(then[place], now[place], key=lambda floor: floor[0]) for place in then if place in now
        }


def _floors_in(kept: Kept, asked: OffsetsAsked) -> Floors:
    return {place: kept[asked.group, place] for place in asked.places if (asked.group, place) in kept}


def _judge(
    read: OffsetsRead,
    floors: Floors,
    asked: dict[Where, dict[int, list[CommitAsked]]],
    answered: set[int],
) -> Iterator[str]:
    group, member = read.asked.group, read.asked.member
    for place, offset in read.offsets:
        commits = asked.get((group, place), {}).get(offset, [])
        if offset >= 0 and not commits:
            yield f"{member}: {group} is at {offset} of {place}, which nobody asked for"
        if place in floors and offset < floors[place][0]:
            floor, kept = floors[place]
            came_late = any(
                id(one) not in answered and (one.member, one.generation) == (kept.member, kept.generation)
                for one in commits
            )
            if not came_late:
                yield f"{member}: {group} is at {offset} of {place}, but {floor} was acknowledged"


def _keep(kept: Kept, commit: CommitAsked) -> None:
    for place, offset in commit.offsets:
        if offset >= kept.get((commit.group, place), (-1, commit))[0]:
            kept[commit.group, place] = (offset, commit)


class CommitsAreFenced:
    """Whoever has lost a partition to another member cannot commit for it. Who was frozen since it asked
    where to begin takes nothing from anybody, nor does who hears late of a generation that is over."""

    def check(self, facts: Facts) -> Iterator[str]:
        owners: dict[Where, Assigned] = {}
        late: dict[int, str] = {}
        for event in facts.events:
            if isinstance(event, Assigned):
                for place, _ in event.positions:
                    if event.asked_ms >= owners.get((event.group, place), event).asked_ms:
                        owners[event.group, place] = event
            elif isinstance(event, CommitAsked):
                for place, offset in event.offsets:
                    owner = owners.get((event.group, place))
                    if owner is None or owner.member == event.member or event.generation > owner.generation:
                        continue
                    late[id(event)] = f"{event.member} commits {offset} of {place}, which {owner.member} has"
            elif isinstance(event, CommitAcknowledged) and id(event.asked) in late:
                yield late[id(event.asked)]


class GroupsSettle:
    """After healing every group is stable, with all who are in it and nobody else."""

    def check(self, facts: Facts) -> Iterator[str]:
        for found in facts.of(GroupFound):
            if found.state != _STABLE or found.members != found.expected_members:
                yield (
                    f"{found.group} is {found.state} with {found.members} members, not {_STABLE} with "
                    f"{found.expected_members}"
                )
