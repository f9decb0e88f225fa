"""One schedule of a cluster: a promise and a seed in, what was found wrong out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from barnabas.sim.admins import Creator, Deleter, Lister, Topic
from barnabas.sim.auditors import GroupAuditor, OffsetAuditor, OffsetWatcher, TransactionAuditor
from barnabas.sim.clients import Client
from barnabas.sim.cluster.cluster import Cluster, rack_of
from barnabas.sim.cluster.door import ClusterDoor
from barnabas.sim.cluster.faults import ClusterFaults
from barnabas.sim.cluster.mover import Mover
from barnabas.sim.cluster.overview import Overview
from barnabas.sim.cluster.promise import CARELESS, ClusterPromise
from barnabas.sim.consumers import Consumer
from barnabas.sim.crews import GroupCrew
from barnabas.sim.history import Broke
from barnabas.sim.membership import Places
from barnabas.sim.producers import Producer, Style
from barnabas.sim.run import Outcome, judge, places_of, quietly
from barnabas.sim.world import QuickRandom, World

_START_MS = 5_000
_PATIENCE_MS = 20_000
_PATIENCES_MS = (700, 3000)  # of a client with one request
_QUIET_MS = 250
_DOOMED = Topic("doomed", 2, {}, 3)
_DOOMED_MS = 600
_CARELESS_STYLE = Style(acks=1, idempotent=False, think_ms=250)


def run_cluster(promise: ClusterPromise, seed: int, *, talk: bool = False) -> Outcome:
    schedule = ClusterSchedule(promise, seed)
    with quietly(talk=talk):
        schedule.play()
    return judge(promise.name, promise.checkers, seed, schedule.world.history)


class ClusterSchedule:
    def __init__(self, promise: ClusterPromise, seed: int) -> None:
        self.promise = promise
        self.world = World(seed, QuickRandom)
        brokers, self.plan = promise.plan(QuickRandom(f"{seed}/plan"))
        self.cluster = Cluster(self.world, seed, brokers, self.plan.properties)
        self.overview = Overview(self.cluster)
        self.door = ClusterDoor(self.cluster)
        inputs = places_of(self.plan.topics)
        self.places = inputs + places_of(self.plan.more_topics)
        self.producers: list[Client] = [
            Producer(self.world, self.door, f"producer-{at}", inputs, style)
            for at, style in enumerate(self.plan.styles)
        ]
        if promise.careless:
            places = places_of([CARELESS])
            self.producers.append(Producer(self.world, self.door, "careless", places, _CARELESS_STYLE))
        self.crews = [hiring.hire(self.world, self.door, self.places) for hiring in self.plan.hirings]
        self.reader = self._reader()
        self.consumers: list[Client] = [self.reader]
        if self._groups:
            self.consumers.append(OffsetWatcher(self.world, self.door, "offset-watcher", self._groups))
        topics = [*self.plan.topics, *self.plan.more_topics]
        topics += [_DOOMED] if promise.deletes else []
        topics += [CARELESS] if promise.careless else []
        self.creator = Creator(self.world, self.door, topics, self._created)
        self.deleter = Deleter(self.world, self.door, _DOOMED.name)
        self.administrators: list[Client] = [
            Creator(self.world, self.door, [Topic(f"extra-{at}", 1, {}, 3)], lambda: None)
            for at in range(promise.creates)
        ]
        for client in (*self.producers, *self.consumers):
            client.patience_ms = self.world.random.pick(_PATIENCES_MS)
        self.mover = Mover(self.world, self.door, self.places, list(self.cluster.machines))
        self._has_begun = False

    def _reader(self) -> Consumer:
        """Whoever has the rack of a broker is sent there where it is a follower."""
        random = self.world.random
        rack = rack_of(random.pick(list(self.cluster.machines))) if random.chance(self.promise.nearby) else ""
        committed = bool(self.plan.hirings) and random.chance(0.5)
        return Consumer(self.world, self.door, "follower", self.places, read_committed=committed, rack=rack)

    @property
    def _groups(self) -> dict[str, Places]:
        crews = [crew for crew in self.crews if isinstance(crew, GroupCrew)]
        return {crew.membership.group: crew.membership.places for crew in crews}

    def _created(self) -> None:
        self._has_begun = True
        for client in (*self.producers, *self.consumers):
            client.begin()
        for crew in self.crews:
            crew.begin()
        for administrator in self.administrators:
            self.world.soon(self.promise.faults_ms, administrator.begin)
        if self.promise.deletes:
            self.world.soon(_DOOMED_MS, self.deleter.begin)
        else:
            self.deleter.finish()
        if self.promise.moves:
            self.mover.begin()
        else:
            self.mover.finish()

    def _everybody(self) -> list[Client]:
        crews = [client for crew in self.crews for client in crew.clients]
        return [self.creator, *self.producers, *self.consumers, *crews]

    def play(self) -> None:
        """Faults begin when the cluster serves: how it starts is part of what follows a fault."""
        self.cluster.start()
        self.creator.begin()
        if not self._wait("the start", lambda: self._has_begun, _START_MS):
            return
        faults = ClusterFaults(
            self.world,
            self.cluster,
            self.overview,
            self._everybody,
            self.promise.kinds,
            self.promise.faults_max,
            self.promise.faults_ms,
        )
        self._work_through(faults)
        self._wait("the reading", lambda: self.reader.positions == self.overview.stable_offsets(self.places))
        for client in self.consumers:
            client.finish()
        for crew in self.crews:
            crew.finish()
        if self.promise.last is not None:
            faults.strike(self.promise.last)
        self._wait("the cluster's healing", self._is_whole_for_good(self.world.now_ms + _QUIET_MS))
        self._read_everything()
        # Whoever slept until a moment ago may have been missed only now.
        self._wait("the cluster's healing", self._is_whole_for_good(self.world.now_ms))
        self.overview.write_down()

    def _is_whole_for_good(self, since_ms: int) -> Callable[[], bool]:
        """Not before the last session has ended that nobody has heard of."""
        ensemble = self.cluster.ensemble
        return lambda: self.world.now_ms >= since_ms and not ensemble.awaits_an_end and self.overview.is_whole

    def _work_through(self, faults: ClusterFaults) -> bool:
        writers = [*self.producers, *self.administrators, self.deleter, self.mover]
        if not self._wait("the load", lambda: faults.over and all(one.finished for one in writers)):
            return False
        for crew in self.crews:
            crew.heal()
        others = [crew for crew in self.crews if not isinstance(crew, GroupCrew)]
        if not self._wait("the transactions", lambda: all(crew.is_done(0) for crew in others)):
            return False
        groups = [crew for crew in self.crews if isinstance(crew, GroupCrew)]
        # A leader that slept until a moment ago would tell a member that it has read everything.
        if groups and not self._wait("the cluster's healing", self._is_whole_for_good(self.world.now_ms)):
            return False
        since_ms = self.world.now_ms
        if not self._wait("the groups' work", lambda: all(crew.is_done(since_ms) for crew in groups)):
            return False
        return self._audit("the groups' rest", [GroupAuditor(self.world, self.door, crew) for crew in groups])

    def _read_everything(self) -> None:
        world, door = self.world, self.door
        readers: list[Client] = [
            Consumer(world, door, "reader", self.places, final=True),
            Lister(world, door),
        ]
        if self.crews:
            stable = Consumer(world, door, "stable-reader", self.places, final=True, read_committed=True)
            auditor = OffsetAuditor(world, door, "offset-auditor", self._groups)
            readers += [stable, auditor, TransactionAuditor(world, door)]
        self._audit("the last read", readers)

    def _audit(self, what: str, auditors: Sequence[Client]) -> bool:
        for auditor in auditors:
            auditor.begin()
        return self._wait(what, lambda: all(auditor.finished for auditor in auditors))

    def _wait(self, what: str, reached: Callable[[], bool], patience_ms: int = _PATIENCE_MS) -> bool:
        done = self.world.run_until(reached, self.world.now_ms + patience_ms)
        if not done:
            self.world.history.add(Broke(f"{what} does not come to an end"))
        return done
