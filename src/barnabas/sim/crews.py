"""Clients that belong together, and their comings and goings: groups of readers or workers, and producers
that share a transactional id.

Until it is healed, a crew's people leave politely, die without a word, or freeze and are replaced before they
wake up: a zombie goes on as if nothing had been.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from barnabas.model.ids import TopicPartition
from barnabas.sim.classic_member import ClassicMember
from barnabas.sim.clients import Client
from barnabas.sim.consumer_member import ConsumerMember
from barnabas.sim.membership import Member, Membership
from barnabas.sim.network import Door
from barnabas.sim.staff import GroupConsumer, Staff, Worker
from barnabas.sim.transaction_versions import TransactionsVersion1, TransactionsVersion2
from barnabas.sim.transactional_producers import TransactionalProducer
from barnabas.sim.transactions import Transactions
from barnabas.sim.world import World

_STAY_MS = (100, 900)
_VACANT_MS = 200
_GOES_CHANCE = 0.5
_ZOMBIE_MS = (150, 900)
TRANSACTION_TIMEOUT_MS = 400


class GroupProtocol(Enum):
    CLASSIC = "classic"
    CONSUMER = "consumer"
    MIXED = "mixed"  # each member as it likes: the group is upgraded and downgraded under way

    def member(self, world: World, membership: Membership, name: str) -> Member:
        classic = self is GroupProtocol.CLASSIC
        if self is GroupProtocol.MIXED:
            classic = world.random.chance(0.5)
        return (ClassicMember if classic else ConsumerMember)(world, membership, name)


class Version(Enum):
    """Of the transaction protocol."""

    ONE = 1
    TWO = 2

    @property
    def survives_strays(self) -> bool:
        """With one epoch for many transactions, a late EndTxn ends the next one: what KIP-890 is about."""
        return self is Version.TWO

    def enlist(self, world: World, transactional_id: str, name: str) -> Transactions:
        kind = TransactionsVersion1 if self is Version.ONE else TransactionsVersion2
        return kind(world, transactional_id, name, TRANSACTION_TIMEOUT_MS)


class Crew(abc.ABC):
    def __init__(self, world: World, host: Door) -> None:
        self.world = world
        self.host = host
        self.healed = False

    @property
    @abc.abstractmethod
    def clients(self) -> Sequence[Client]: ...

    @abc.abstractmethod
    def begin(self) -> None: ...

    def heal(self) -> None:
        """From now on nobody goes any more."""
        self.healed = True

    @abc.abstractmethod
    def is_done(self, since_ms: int) -> bool:
        """Nothing is left to do; for readers, of what was there at that time."""

    def finish(self) -> None:
        for client in self.clients:
            client.finish()


class GroupCrew(Crew):
    """Each desk has one member at a time, as far as anybody knows."""

    def __init__(
        self,
        world: World,
        host: Door,
        membership: Membership,
        protocol: GroupProtocol,
        desks: int,
        hire: Callable[[Member, int], Staff],
    ) -> None:
        super().__init__(world, host)
        self.membership = membership
        self.protocol = protocol
        self._hire = hire
        self._desks: list[Staff | None] = [None] * desks
        self._hired = 0
        self._former: list[Staff] = []

    @property
    def clients(self) -> Sequence[Client]:
        everybody = [*self._former, *(staff for staff in self._desks if staff is not None)]
        return [staff for staff in everybody if not staff.finished]

    @property
    def present(self) -> int:
        return sum(staff is not None and not staff.finished for staff in self._desks)

    def begin(self) -> None:
        for desk in range(len(self._desks)):
            self.world.soon(_VACANT_MS, lambda desk=desk: self._fill(desk))  # type: ignore[misc]

    def heal(self) -> None:
        super().heal()
        for former in self._former:
            former.retiring = True
        if len(self._desks) > 1 and self.world.random.chance(_GOES_CHANCE):
            self._close_desk()
        for staff in self._desks:
            if staff is not None:
                staff.steady = True
        self._keep_filled()

    def _keep_filled(self) -> None:
        """A request of somebody's that lay somewhere for long may still fence who came after."""
        for desk in range(len(self._desks)):
            self._fill(desk)
        self.world.after(_VACANT_MS, self._keep_filled)

    def is_done(self, since_ms: int) -> bool:
        complete: set[TopicPartition] = set()
        for staff in self._desks:
            if staff is not None and not staff.finished:
                complete |= staff.complete(since_ms)
        return complete == self.membership.places

    # --- comings and goings --------------------------------------------------------------------------------

    def _fill(self, desk: int) -> None:
        if desk >= len(self._desks):
            return
        here = self._desks[desk]
        if here is not None and not here.finished:
            return
        self._hired += 1
        name = f"{self.membership.group}-{desk}.{self._hired}"
        member = self.protocol.member(self.world, self.membership, name)
        staff = self._desks[desk] = self._hire(member, desk)
        staff.steady = self.healed
        staff.begin()
        if self.world.random.chance(_GOES_CHANCE):
            self.world.after(self.world.random.between(*_STAY_MS), lambda: self._go(desk, staff))

    def _go(self, desk: int, staff: Staff) -> None:
        if self.healed or self._desks[desk] is not staff:
            return  # `healed` first: the desk may be closed
        self._desks[desk] = None
        way = self.world.random.pick((self._leaves, self._dies, self._freezes))
        way(staff)
        self.world.soon(_VACANT_MS, lambda: self._fill(desk))

    def _close_desk(self) -> None:
        """Somebody dies for good; the others must take over."""
        last = self._desks.pop()
        if last is not None:
            last.finish()

    def _leaves(self, staff: Staff) -> None:
        staff.retiring = True
        self._former.append(staff)

    def _dies(self, staff: Staff) -> None:
        staff.finish()

    def _freezes(self, staff: Staff) -> None:
        staff.freeze(self.world.random.between(*_ZOMBIE_MS))
        staff.superseded = True
        self._former.append(staff)


class WriterCrew(Crew):
    """One transactional id, and sometimes two who think that it is theirs."""

    def __init__(self, world: World, host: Door, people: list[TransactionalProducer]) -> None:
        super().__init__(world, host)
        self._people = people

    @property
    def clients(self) -> Sequence[Client]:
        return [person for person in self._people if not person.finished]

    def begin(self) -> None:
        before: TransactionalProducer | None = None
        for person in self._people:
            if before is None:
                person.begin()
            else:
                self.world.soon(_STAY_MS[1], lambda old=before, new=person: self._take_over(old, new))  # type: ignore[misc]
            before = person
        if before is not None and self.world.random.chance(_GOES_CHANCE):
            last = before
            self.world.after(self.world.random.between(*_STAY_MS), last.finish)  # its transaction stays open

    def _take_over(self, old: TransactionalProducer, new: TransactionalProducer) -> None:
        if self.world.random.chance(0.5):
            old.freeze(self.world.random.between(*_ZOMBIE_MS))
        old.superseded = True
        new.begin()

    def is_done(self, since_ms: int) -> bool:  # noqa: ARG002
        return all(person.finished for person in self._people)


# --- what a plan may ask for -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Readers:
    group: str
    protocol: GroupProtocol
    desks: int
    read_committed: bool
    session_timeout_ms: int
    rebalance_timeout_ms: int
    static: bool = False

    def hire(self, world: World, host: Door, places: Sequence[TopicPartition]) -> Crew:
        def staff(member: Member, _desk: int) -> Staff:
            consumer = GroupConsumer(world, host, member)
            consumer.read_committed = self.read_committed
            return consumer

        return GroupCrew(world, host, _membership(self, places), self.protocol, self.desks, staff)


@dataclass(frozen=True, slots=True)
class Workers:
    """They read every topic but `output`, and write there."""

    group: str
    protocol: GroupProtocol
    desks: int
    version: Version
    output: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    static: bool = False

    def hire(self, world: World, host: Door, places: Sequence[TopicPartition]) -> Crew:
        inputs = [place for place in places if place.topic != self.output]
        outputs = [place for place in places if place.topic == self.output]

        def staff(member: Member, desk: int) -> Staff:
            enlisted = iter(range(1 << 30))

            def enlist() -> Transactions:
                return self.version.enlist(world, f"{self.group}-{desk}", f"{member.name}.{next(enlisted)}")

            def output(place: TopicPartition) -> TopicPartition:
                return outputs[place.partition % len(outputs)]

            worker = Worker(world, host, member, enlist, output)
            worker.may_stray = self.version.survives_strays
            return worker

        return GroupCrew(world, host, _membership(self, inputs), self.protocol, self.desks, staff)


@dataclass(frozen=True, slots=True)
class Writers:
    transactional_id: str
    version: Version
    rivals: int
    transactions: int

    def hire(self, world: World, host: Door, places: Sequence[TopicPartition]) -> Crew:
        def enlist(name: str) -> Transactions:
            return self.version.enlist(world, self.transactional_id, name)

        people = [
            TransactionalProducer(
                world, host, f"{self.transactional_id}-{at}", enlist, list(places), self.transactions
            )
            for at in range(self.rivals)
        ]
        for person in people:
            person.may_stray = self.version.survives_strays
        return WriterCrew(world, host, people)


Hiring = Readers | Workers | Writers


def _membership(hiring: Readers | Workers, places: Sequence[TopicPartition]) -> Membership:
    times = hiring.session_timeout_ms, hiring.rebalance_timeout_ms
    return Membership(hiring.group, frozenset(places), *times, static=hiring.static)
