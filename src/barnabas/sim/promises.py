"""What the broker promises, each with the settings, the load and the faults under which it must hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from barnabas.sim import checkers as check
from barnabas.sim.admins import Topic
from barnabas.sim.checkers import Checker
from barnabas.sim.faults import Kind
from barnabas.sim.producers import Style
from barnabas.sim.world import SeededRandom

_SMALL_SEGMENTS = {"internal.segment.bytes": "9000", "index.interval.bytes": "256"}
_TINY_SEGMENTS = {"internal.segment.bytes": "2600", "index.interval.bytes": "64"}
_HARMLESS = (Kind.DISCONNECT, Kind.SLOW_DISK, Kind.CLOCK_JUMP)
_KILLS = (Kind.KILL, Kind.KILL_INSIDE, Kind.KILL_INSIDE, Kind.STOP)
_POWER = (Kind.POWER_LOSS, Kind.POWER_LOSS_INSIDE, Kind.POWER_LOSS_INSIDE, Kind.KILL_THEN_POWER_LOSS)

_ALWAYS: tuple[Checker, ...] = (check.NothingBroke(), check.NothingInvented(), check.CreatedTopicsExist())
_STRICT: tuple[Checker, ...] = (
    *_ALWAYS,
    check.NoLostWrite(),
    check.NoDuplicate(),
    check.InOrder(),
    check.OneValuePerOffset(),
    check.HighWatermarkRises(),
    check.WholeReads(),
    check.ReadersKeepTheirPlace(),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the seed made of a promise."""

    properties: Mapping[str, str]
    topics: list[Topic]
    styles: list[Style]


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
    directories: tuple[int, ...] = (1, 2)
    segments: tuple[Mapping[str, str], ...] = ({}, _SMALL_SEGMENTS, _TINY_SEGMENTS)
    properties: Mapping[str, str] = field(default_factory=dict)

    def plan(self, random: SeededRandom) -> Plan:
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
        }
        topics = [
            Topic(
                f"topic-{at}",
                random.between(1, 3),
                {**random.pick(self.segments), **random.pick(self.topic_configs)},
            )
            for at in range(random.between(1, 2))
        ]
        return Plan(properties, topics, [random.pick(self.styles) for _ in range(random.between(1, 3))])


_FLUSHED = {"flush.messages": "1"}

KILLS = Promise(
    "kill",
    "After kill -9 nothing acknowledged is lost, whatever the settings; order and offsets are kept, and a "
    "retry leaves no duplicate.",
    (*_KILLS, *_HARMLESS),
    _STRICT,
    Kind.KILL,
    ({}, _FLUSHED, {"flush.messages": "7"}, {"flush.ms": "30"}),
)

POWER_LOSS = Promise(
    "power_loss",
    "With flush.messages=1 nothing acknowledged is lost when the power fails, and a created topic exists.",
    (*_POWER, *_KILLS, *_HARMLESS),
    _STRICT,
    Kind.POWER_LOSS,
    (_FLUSHED,),
)

CLEAN_PREFIX = Promise(
    "clean_prefix",
    "Without a flush, what power loss leaves is a clean prefix: no garbage, no hole, and the broker starts.",
    (*_POWER, *_KILLS, *_HARMLESS),
    (
        *_ALWAYS,
        check.OneValuePerOffset(per_life=True),
        check.HighWatermarkRises(per_life=True),
        check.WholeReads(),
    ),
    Kind.POWER_LOSS,
    ({}, {"flush.messages": "7"}, {"flush.ms": "30"}),
    tuple(
        Style(acks, idempotent, may_start_over=True)
        for acks, idempotent in ((-1, True), (1, True), (1, False), (0, False))
    ),
)

FAILING_DIRECTORY = Promise(
    "failing_directory",
    "A directory with a full or broken disk answers KAFKA_STORAGE_ERROR for its partitions; others go on.",
    (Kind.IO_ERROR, Kind.FULL_DISK, Kind.IO_ERROR, Kind.FULL_DISK, Kind.KILL, *_HARMLESS),
    (
        *_ALWAYS,
        check.NoLostWrite(),
        check.NoDuplicate(),
        check.InOrder(),
        check.OneValuePerOffset(),
        check.HighWatermarkRises(),
        check.WholeReads(),
        check.OnlyTheFailedDirectory(),
    ),
    Kind.KILL,
    ({}, _FLUSHED),
    (Style(tries=6), Style(acks=1, tries=6)),
    (2, 3),
)

_KEYED = tuple(Style(acks, keys=3, tombstones=0.1, batches=25) for acks in (-1, 1))

COMPACTION = Promise(
    "compaction",
    "While logs are compacted, crashes of any kind leave the last value of every key.",
    (*_POWER, *_KILLS, *_HARMLESS),
    (
        *_ALWAYS,
        check.LastValueOfKey(),
        check.NoDuplicate(),
        check.InOrder(),
        check.OneValuePerOffset(),
        check.HighWatermarkRises(),
        check.WholeReads(holes=True),
        check.ReadersKeepTheirPlace(),
    ),
    Kind.POWER_LOSS,
    (
        {**_FLUSHED, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"},
        {
            **_FLUSHED,
            "cleanup.policy": "compact",
            "min.cleanable.dirty.ratio": "0.01",
            "delete.retention.ms": "0",
        },
    ),
    _KEYED,
    segments=(_SMALL_SEGMENTS, _TINY_SEGMENTS),
    properties={"log.cleaner.backoff.ms": "20"},
)

RETENTION = Promise(
    "retention",
    "While retention removes segments, crashes of any kind lose nothing else.",
    (*_POWER, *_KILLS, *_HARMLESS),
    (
        *_ALWAYS,
        check.NoLostWrite(),
        check.NoDuplicate(),
        check.InOrder(),
        check.OneValuePerOffset(),
        check.HighWatermarkRises(),
        check.WholeReads(),
    ),
    Kind.POWER_LOSS,
    (
        {**_FLUSHED, "retention.bytes": "4000", "file.delete.delay.ms": "0"},
        {**_FLUSHED, "retention.bytes": "4000", "file.delete.delay.ms": "100"},
        {**_FLUSHED, "retention.ms": "150", "file.delete.delay.ms": "50"},
    ),
    (Style(batches=25), Style(acks=1, batches=25)),
    segments=(_SMALL_SEGMENTS, _TINY_SEGMENTS),
    properties={"log.retention.check.interval.ms": "30"},
)

PROMISES = {
    promise.name: promise
    for promise in (KILLS, POWER_LOSS, CLEAN_PREFIX, FAILING_DIRECTORY, COMPACTION, RETENTION)
}
