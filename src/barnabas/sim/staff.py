"""Those who read as members of a group: plain consumers, and workers that consume, transform and produce."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping

from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.sim.consumers import seen_by
from barnabas.sim.history import Assigned, Released, Seen
from barnabas.sim.membership import Member, Places, by_topic
from barnabas.sim.network import Door
from barnabas.sim.scripts import Actor, LostError, Script, ask, rest
from barnabas.sim.transaction_checkers import origin_key
from barnabas.sim.transactions import AbortableError, FencedError, Transactions
from barnabas.sim.world import World

_FETCH_VERSION = 12
_BEAT_MS = 70
_THINK_MS = 60
_DAWDLE_CHANCE = 0.03
_DAWDLE_MS = (200, 900)
_FETCH_BYTES = 1 << 20


class Staff(Actor):
    """`read_committed`, `positions`, `ends`: as in every consumer. `kept`: what the group has committed, as
    far as this member knows."""

    read_committed = False

    def __init__(self, world: World, host: Door, member: Member) -> None:
        super().__init__(world, host, member.name)
        self.member = member
        self.retiring = False
        self.superseded = False  # somebody else has been hired in its place
        self.steady = False  # no longer so slow that others take over
        self.positions: dict[TopicPartition, int] = {}
        self.kept: dict[TopicPartition, int] = {}
        self._ends: dict[TopicPartition, tuple[int, int]] = {}  # when asked for, high watermark
        self._beat_at_ms = 0

    def script(self) -> Script[None]:
        while not (self.retiring or self.member.fenced):
            if self.world.now_ms >= self._beat_at_ms:
                yield from self._beat()
            yield from self._look_up(self.member.owned - self.positions.keys())
            if self.positions:
                yield from self._poll()
            yield from rest(self.world.random.between(1, _THINK_MS))
        yield from self.let_go(frozenset(self.positions))
        self._release(frozenset(self.positions))
        if not self.member.fenced:
            yield from self.member.leave()

    @abc.abstractmethod
    def work(self, polled: list[Seen]) -> Script[None]: ...

    @abc.abstractmethod
    def let_go(self, places: Places) -> Script[None]:
        """The last moment to commit what was read there."""

    def complete(self, since_ms: int) -> Places:
        """The partitions that it has read to their end, and committed, since then."""
        return frozenset(
            place
            for place, (at_ms, end) in self._ends.items()
            if place in self.positions
            and at_ms >= since_ms
            and self.positions[place] == end
            and self.kept.get(place, 0) >= end
        )

    # --- the group -----------------------------------------------------------------------------------------

    def _beat(self) -> Script[None]:
        self._beat_at_ms = self.world.now_ms + _BEAT_MS
        change = yield from self.member.beat()
        if change.revoked:
            yield from self.let_go(change.revoked & self.positions.keys())
        self._release(change.revoked | change.lost)
        if change.settled:
            return
        if self.superseded and self.member.instance_id is not None:
            self.member.fenced = True  # two who both come back under one name would fence each other for ever
            return
        yield from self.member.settle()
        self._beat_at_ms = 0

    def beat_soon(self) -> None:
        """Something was refused: the coordinator has news."""
        self._beat_at_ms = 0

    def _release(self, places: Places) -> None:
        if places:
            self.world.history.add(Released(self.member.group, self.name, tuple(sorted(places))))
        for place in places:
            self.positions.pop(place, None)
            self.kept.pop(place, None)
            self._ends.pop(place, None)

    def _look_up(self, places: Places) -> Script[None]:
        asked_ms = self.world.now_ms
        found = (yield from self.member.committed(places)) if places else {}
        if found is None:
            self.beat_soon()
        elif found:
            self._start_from(found, asked_ms)

    def _start_from(self, found: Mapping[TopicPartition, int], asked_ms: int) -> None:
        """As `auto.offset.reset=earliest`."""
        positions = {place: max(offset, 0) for place, offset in found.items()}
        self.positions.update(positions)
        self.kept.update(positions)
        told = tuple(sorted(positions.items()))
        group, generation = self.member.group, self.member.generation
        self.world.history.add(Assigned(group, self.name, generation, told, asked_ms))

    # --- reading -------------------------------------------------------------------------------------------

    def _poll(self) -> Script[None]:
        topics = [
            FetchTopic(topic=topic, partitions=[self._wish(topic, index) for index in indexes])
            for topic, indexes in by_topic(self.positions)
        ]
        request = FetchRequest(
            max_wait_ms=self.world.random.pick((0, 10, 30)),
            min_bytes=1,
            max_bytes=self.world.random.pick((_FETCH_BYTES, 600)),
            isolation_level=int(self.read_committed),
            session_epoch=-1,
            topics=topics,
        )
        asked_ms = self.world.now_ms
        try:
            answer = yield from ask(FetchResponse, request, _FETCH_VERSION)
        except LostError:
            return
        polled = self._read(answer, asked_ms)
        yield from self.dawdle()
        yield from self.work(polled)

    def dawdle(self) -> Script[None]:
        """Now and then, take longer than the group or the transaction waits."""
        if not self.steady and self.world.random.chance(_DAWDLE_CHANCE):
            yield from rest(self.world.random.between(*_DAWDLE_MS))

    def _wish(self, topic: str, index: int) -> FetchPartition:
        position = self.positions[TopicPartition(topic, index)]
        return FetchPartition(index, fetch_offset=position, partition_max_bytes=_FETCH_BYTES)

    def _read(self, answer: FetchResponse, asked_ms: int) -> list[Seen]:
        polled = []
        for topic in answer.responses:
            for data in topic.partitions:
                place = TopicPartition(topic.topic, data.partition_index)
                position = self.positions[place]
                seen, after = seen_by(self.name, place, position, data, self.read_committed, self.life)
                self.world.history.add(seen)
                self.positions[place] = after
                if seen.leader_epoch >= 0:
                    self.member.epochs[place] = seen.leader_epoch
                if not seen.error:
                    self._ends[place] = (asked_ms, seen.high_watermark)
                polled.append(seen)
        return polled


class GroupConsumer(Staff):
    """At least once: it commits what it has read, now and then and before it lets go."""

    _COMMIT_CHANCE = 0.4
    _LAST_TRIES = 3

    def work(self, polled: list[Seen]) -> Script[None]:
        unkept = self._unkept(frozenset(self.positions))
        if unkept and (not any(seen.records for seen in polled) or self._feels_like_it()):
            yield from self._commit(unkept)

    def let_go(self, places: Places) -> Script[None]:
        for _ in range(self._LAST_TRIES):
            unkept = self._unkept(places)
            if not unkept or (yield from self._commit(unkept)):
                return

    def _feels_like_it(self) -> bool:
        return self.world.random.chance(self._COMMIT_CHANCE)

    def _unkept(self, places: Places) -> dict[TopicPartition, int]:
        return {
            place: position
            for place, position in self.positions.items()
            if place in places and self.kept.get(place, 0) != position
        }

    def _commit(self, offsets: Mapping[TopicPartition, int]) -> Script[bool]:
        done = yield from self.member.commit(offsets)
        if done:
            self.kept.update(offsets)
        else:
            self.beat_soon()
        return done


class Worker(Staff):
    """Exactly once: what it read, what it made of it and the offsets behind it are one transaction."""

    read_committed = True

    def __init__(
        self,
        world: World,
        host: Door,
        member: Member,
        enlist: Callable[[], Transactions],
        output: Callable[[TopicPartition], TopicPartition],
    ) -> None:
        super().__init__(world, host, member)
        self._enlist = enlist
        self._output = output
        self._transactions: Transactions | None = None

    def work(self, polled: list[Seen]) -> Script[None]:
        read = {seen.place: self.positions[seen.place] for seen in polled}
        unkept = {place: after for place, after in read.items() if self.kept.get(place, 0) != after}
        if not unkept:
            return
        try:
            yield from self._transact(polled, unkept)
            self.kept.update(unkept)
        except AbortableError:
            yield from self._abort()
        except FencedError:
            self._start_over()

    def let_go(self, places: Places) -> Script[None]:  # noqa: ARG002
        """Nothing is ever left between two transactions."""
        yield from ()

    def _transact(self, polled: list[Seen], offsets: Mapping[TopicPartition, int]) -> Script[None]:
        if self._transactions is None:
            transactions = self._enlist()
            yield from transactions.initialise()
            self._transactions = transactions
        transactions = self._transactions
        name = transactions.begin()
        for seen in polled:
            if seen.records:
                keys = [origin_key(seen.place, record.offset) for record in seen.records]
                values = [f"{name}/{seen.place}/{record.offset}".encode() for record in seen.records]
                yield from transactions.write(self._output(seen.place), keys, values)
        yield from self.dawdle()
        yield from transactions.send_offsets(self.member, offsets)
        yield from self.dawdle()
        yield from transactions.end(commit=True)

    def _abort(self) -> Script[None]:
        try:
            if self._transactions is not None:
                yield from self._transactions.abort()
        except (AbortableError, FencedError):
            self._transactions = None
        self._start_over(keeps_its_name=True)

    def _start_over(self, *, keeps_its_name: bool = False) -> None:
        """Back to what the group has committed; or home, if another one has our name."""
        if not keeps_its_name:
            self._transactions = None
            self.retiring = self.retiring or self.superseded
        self.beat_soon()
        self._release(frozenset(self.positions))
