"""One schedule: a promise and a seed in, what was found wrong out."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from barnabas.model.ids import TopicPartition
from barnabas.sim.admins import Creator, Lister
from barnabas.sim.checkers import Facts
from barnabas.sim.clients import Client
from barnabas.sim.consumers import Consumer
from barnabas.sim.faults import Faults
from barnabas.sim.history import Broke, History
from barnabas.sim.host import Host
from barnabas.sim.producers import Producer
from barnabas.sim.promises import Plan, Promise
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
    with _log_level(logging.INFO if talk else logging.CRITICAL + 1):
        schedule.play()
    facts = Facts(schedule.world.history)
    violations = tuple(
        f"{type(checker).__name__}: {sentence}"
        for checker in promise.checkers
        for sentence in checker.check(facts)
    )
    return Outcome(promise.name, seed, violations, schedule.world.history)


@contextlib.contextmanager
def _log_level(level: int) -> Iterator[None]:
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
        self.world = World(seed)
        self.plan: Plan = promise.plan(SeededRandom(f"{seed}/plan"))
        self.host = Host(self.world, self.plan.properties, seed)
        self.places = [
            TopicPartition(topic.name, index)
            for topic in self.plan.topics
            for index in range(topic.partitions)
        ]
        self.producers: list[Client] = [
            Producer(self.world, self.host, f"producer-{at}", self.places, style)
            for at, style in enumerate(self.plan.styles)
        ]
        self.consumers: list[Client] = [Consumer(self.world, self.host, "follower", self.places)]
        self.creator = Creator(self.world, self.host, self.plan.topics, self._created)

    def _created(self) -> None:
        for client in (*self.producers, *self.consumers):
            client.begin()

    def play(self) -> None:
        everybody = [self.creator, *self.producers, *self.consumers]
        faults = Faults(self.world, self.host, everybody, self.promise.kinds)
        self.creator.begin()
        if not self._wait("the load", lambda: faults.over and all(one.finished for one in self.producers)):
            return
        for consumer in self.consumers:
            consumer.finish()
        if self.promise.last is not None:
            faults.strike(self.promise.last)
        self._read_everything()

    def _read_everything(self) -> None:
        readers: list[Client] = [
            Consumer(self.world, self.host, "reader", self.places, final=True),
            Lister(self.world, self.host),
        ]
        for reader in readers:
            reader.begin()
        self._wait("the last read", lambda: all(reader.finished for reader in readers))

    def _wait(self, what: str, reached: Callable[[], bool]) -> bool:
        done = self.world.run_until(reached, self.world.now_ms + _PATIENCE_MS)
        if not done:
            self.world.history.add(Broke(f"{what} does not come to an end"))
        return done
