"""What a promise is, and what a seed makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from barnabas.sim.admins import Topic
from barnabas.sim.checkers import Checker
from barnabas.sim.crews import Hiring, Workers
from barnabas.sim.faults import Kind
from barnabas.sim.producers import Style
from barnabas.sim.world import SeededRandom

SMALL_SEGMENTS = {"internal.segment.bytes": "9000", "index.interval.bytes": "256"}
TINY_SEGMENTS = {"internal.segment.bytes": "2600", "index.interval.bytes": "64"}
FLUSHED = {"flush.messages": "1"}
HARMLESS = (Kind.DISCONNECT, Kind.SLOW_DISK, Kind.CLOCK_JUMP)
KILLS = (Kind.KILL, Kind.KILL_INSIDE, Kind.KILL_INSIDE, Kind.STOP)
POWER = (Kind.POWER_LOSS, Kind.POWER_LOSS_INSIDE, Kind.POWER_LOSS_INSIDE, Kind.KILL_THEN_POWER_LOSS)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the seed made of a promise."""

    properties: Mapping[str, str]
    topics: list[Topic]
    styles: list[Style]
    hirings: list[Hiring] = field(default_factory=list)
    more_topics: list[Topic] = field(default_factory=list)  # that producers do not write to


@dataclass(frozen=True, slots=True)
class Variation:
    """Settings of the broker, and topics that somebody made before anybody else could."""

    properties: Mapping[str, str] = field(default_factory=dict)
    topics: tuple[Topic, ...] = ()


@dataclass(frozen=True, slots=True)
class EveryStep:
    """Instead of chance: one crash, after so many changes of the disk since the topics are there. The seed
    counts the steps of one story, then those of the next."""

    steps: int
    kind: Kind  # KILL or POWER_LOSS


@dataclass(frozen=True, slots=True)
class Promise:
    name: str
    says: str
    kinds: tuple[Kind, ...]
    checkers: tuple[Checker, ...]
    last: Kind | None  # what happens at the very end, before everything is read
    topic_configs: tuple[Mapping[str, str], ...] = ({},)
    styles: tuple[Style, ...] = (
        Style(),
        Style(acks=1),
        Style(acks=1, idempotent=False),
        Style(acks=0, idempotent=False),
    )
    producers: tuple[int, int] = (1, 3)
    directories: tuple[int, ...] = (1, 2)
    segments: tuple[Mapping[str, str], ...] = ({}, SMALL_SEGMENTS, TINY_SEGMENTS)
    properties: Mapping[str, str] = field(default_factory=dict)
    faults_max: int = 5
    faults_ms: int = 500  # until then
    hires: Callable[[SeededRandom], list[Hiring]] = lambda _random: []
    every_step: EveryStep | None = None
    variations: tuple[Variation, ...] = (Variation(),)

    def plan(self, random: SeededRandom) -> Plan:
        # Only a choice is chance: a promise without variations keeps its schedules.
        variation = random.pick(self.variations) if len(self.variations) > 1 else self.variations[0]
        directories = ",".join(f"/data/{at}" for at in range(random.pick(self.directories)))
        properties = {
            "broker.id": "1",
            "listeners": "PLAINTEXT://broker:9092",
            "log.dirs": directories,
            # Checkpoints come often, so that crashes meet them.
            "log.flush.offset.checkpoint.interval.ms": str(random.pick((50, 400, 60_000))),
            "log.flush.start.offset.checkpoint.interval.ms": str(random.pick((50, 60_000))),
            "replica.high.watermark.checkpoint.interval.ms": str(random.pick((50, 5_000))),
            **self.properties,
            **variation.properties,
        }
        topics = [
            Topic(
                f"topic-{at}",
                random.between(1, 3),
                {**random.pick(self.segments), **random.pick(self.topic_configs)},
            )
            for at in range(random.between(1, 2))
        ]
        producers = random.between(*self.producers)
        styles = [random.pick(self.styles) for _ in range(producers)]
        hirings = self.hires(random)
        outputs = {hiring.output for hiring in hirings if isinstance(hiring, Workers)}
        output = [Topic(name, random.between(1, 2), topics[0].configs) for name in sorted(outputs)]
        return Plan(properties, topics, styles, hirings, [*output, *variation.topics])
