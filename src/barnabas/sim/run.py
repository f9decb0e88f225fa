"""One schedule: a promise and a seed in, what was found wrong out."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from barnabas.model.ids import TopicPartition
from barnabas.sim.admins import Creator, Lister, Topic
from barnabas.sim.auditors import GroupAuditor, OffsetAuditor, OffsetWatcher, TransactionAuditor
from barnabas.sim.checkers import Checker, Facts
from barnabas.sim.clients import Client
from barnabas.sim.consumers import Consumer
from barnabas.sim.crews import GroupCrew
from barnabas.sim.faults import Faults, Kind
from barnabas.sim.history import Broke, History
from barnabas.sim.host import Host
from barnabas.sim.membership import Places
from barnabas.sim.producers import Producer
from barnabas.sim.promise import Plan, Promise
from barnabas.sim.world import SeededRandom, World

_PATIENCE_MS = 15_000


@dataclass(frozen=True, slots=True)
class Outcome:
    promise: str
    seed: int
    violations: tuple[str, ...]
    history: History

    @property
    def replay(self) -> str:
        return f"python -m barnabas.sim --promise {self.promise} --seed {self.seed} --verbose"

    def __str__(self) -> str:
        lines = "\n".join(f"  - {violation}" for violation in self.violations)
        return f"{self.promise} does not hold with seed {self.seed}:\n{lines}\nreplay: {self.replay}"


def run(promise: Promise, seed: int, *, talk: bool = False) -> Outcome:
    """With `talk`, the broker's own log lines go where logging sends them."""
    schedule = Schedule(promise, seed)
    with quietly(talk=talk):
        schedule.play()
    return judge(promise.name, promise.checkers, seed, schedule.world.history)


def judge(name: str, checkers: Sequence[Checker], seed: int, history: History) -> Outcome:
    facts = Facts(history)
    violations = tuple(
        f"{type(checker).__name__}: {sentence}" for checker in checkers for sentence in checker.check(facts)
    )
    return Outcome(name, seed, violations, history)


@contextlib.contextmanager
def quietly(*, talk: bool) -> Iterator[None]:
    level = logging.INFO if talk else logging.CRITICAL + 1
    loggers = [logging.getLogger(name) for name in ("barnabas", "kafka")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(level)
    try:
        yield
    finally:
        for logger, earlier in zip(loggers, before, strict=True):
            logger.setLevel(earlier)


class Schedule:
    def __init__(self, promise: Promise, seed: int) -> None:
        self.promise = promise
        every_step = promise.every_step
        story, self.step = divmod(seed, every_step.steps) if every_step is not None else (seed, 0)
        self.world = World(story)
        self.plan: Plan = promise.plan(SeededRandom(f"{story}/plan"))
        self.host = Host(self.world, self.plan.properties, story)
        inputs = places_of(self.plan.topics)
        self.places = inputs + places_of([topic for topic in self.plan.more_topics if topic.name[0] != "_"])
        self.producers: list[Client] = [
            Producer(self.world, self.host, f"producer-{at}", inputs, style)
            for at, style in enumerate(self.plan.styles)
        ]
        self.crews = [hiring.hire(self.world, self.host, self.places) for hiring in self.plan.hirings]
        self.consumers: list[Client] = [Consumer(self.world, self.host, "follower", self.places)]
        if self.crews:
            stable = Consumer(self.world, self.host, "stable-follower", self.places, read_committed=True)
            self.consumers.append(stable)
        if self._groups:
            self.consumers.append(OffsetWatcher(self.world, self.host, "offset-watcher", self._groups))
        topics = [*self.plan.topics, *self.plan.more_topics]
        self.creator = Creator(self.world, self.host, topics, self._created)

    @property
    def _groups(self) -> dict[str, Places]:
        crews = [crew for crew in self.crews if isinstance(crew, GroupCrew)]
        return {crew.membership.group: crew.membership.places for crew in crews}

    def _created(self) -> None:
        for client in (*self.producers, *self.consumers):
            client.begin()
        for crew in self.crews:
            crew.begin()
        if self.promise.every_step is not None:
            how = self.host.kill if self.promise.every_step.kind is Kind.KILL else self.host.power_loss
            self.host.fall_after(self.step, how)

    def _everybody(self) -> list[Client]:
        crews = [client for crew in self.crews for client in crew.clients]
        return [self.creator, *self.producers, *self.consumers, *crews]

    def play(self) -> None:
        faults = Faults(
            self.world,
            self.host,
            self._everybody,
            self.promise.kinds,
            most=self.promise.faults_max,
            latest_ms=self.promise.faults_ms,
        )
        self.creator.begin()
        self._work_through(faults)
        for consumer in self.consumers:
            consumer.finish()
        for crew in self.crews:
            crew.finish()
        if self.promise.last is not None:
            faults.strike(self.promise.last)
        self._read_everything()

    def _work_through(self, faults: Faults) -> bool:
        """Until all that was to be written is written, and every group has read it. Whoever is stuck has
        broken a promise; what is left is read all the same, to judge the others."""
        if not self._wait("the load", lambda: faults.over and all(one.finished for one in self.producers)):
            return False
        for crew in self.crews:
            crew.heal()
        writers = [crew for crew in self.crews if not isinstance(crew, GroupCrew)]
        if not self._wait("the transactions", lambda: all(crew.is_done(0) for crew in writers)):
            return False
        since_ms = self.world.now_ms
        groups = [crew for crew in self.crews if isinstance(crew, GroupCrew)]
        if not self._wait("the groups' work", lambda: all(crew.is_done(since_ms) for crew in groups)):
            return False
        return self._audit("the groups' rest", [GroupAuditor(self.world, self.host, crew) for crew in groups])

    def _read_everything(self) -> None:
        readers: list[Client] = [
            Consumer(self.world, self.host, "reader", self.places, final=True),
            Lister(self.world, self.host),
        ]
        if self.crews:
            stable = Consumer(
                self.world, self.host, "stable-reader", self.places, final=True, read_committed=True
            )
            readers += [
                stable,
                OffsetAuditor(self.world, self.host, "offset-auditor", self._groups),
                TransactionAuditor(self.world, self.host),
            ]
        self._audit("the last read", readers)

    def _audit(self, what: str, auditors: Sequence[Client]) -> bool:
        for auditor in auditors:
            auditor.begin()
        return self._wait(what, lambda: all(auditor.finished for auditor in auditors))

    def _wait(self, what: str, reached: Callable[[], bool]) -> bool:
        done = self.world.run_until(reached, self.world.now_ms + _PATIENCE_MS)
        if not done:
            self.world.history.add(Broke(f"{what} does not come to an end"))
        return done


def places_of(topics: Sequence[Topic]) -> list[TopicPartition]:
    return [TopicPartition(topic.name, index) for topic in topics for index in range(topic.partitions)]
