"""What the broker promises, each with the settings, the load and the faults under which it must hold."""

from __future__ import annotations

from barnabas.sim import checkers as check
from barnabas.sim.checkers import Checker
from barnabas.sim.coordination_promises import COORDINATION
from barnabas.sim.faults import Kind
from barnabas.sim.producers import Style
from barnabas.sim.promise import (
    FLUSHED,
    HARMLESS,
    KILLS,
    POWER,
    SMALL_SEGMENTS,
    TINY_SEGMENTS,
    Promise,
)

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


KILL = Promise(
    "kill",
    "After kill -9 nothing acknowledged is lost, whatever the settings; order and offsets are kept, and a "
    "retry leaves no duplicate.",
    (*KILLS, *HARMLESS),
    _STRICT,
    Kind.KILL,
    ({}, FLUSHED, {"flush.messages": "7"}, {"flush.ms": "30"}),
)

POWER_LOSS = Promise(
    "power_loss",
    "With flush.messages=1 nothing acknowledged is lost when the power fails, and a created topic exists.",
    (*POWER, *KILLS, *HARMLESS),
    _STRICT,
    Kind.POWER_LOSS,
    (FLUSHED,),
)

CLEAN_PREFIX = Promise(
    "clean_prefix",
    "Without a flush, what power loss leaves is a clean prefix: no garbage, no hole, and the broker starts.",
    (*POWER, *KILLS, *HARMLESS),
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
    (Kind.IO_ERROR, Kind.FULL_DISK, Kind.IO_ERROR, Kind.FULL_DISK, Kind.KILL, *HARMLESS),
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
    ({}, FLUSHED),
    (Style(tries=6), Style(acks=1, tries=6)),
    (2, 3),
)

_KEYED = tuple(Style(acks, keys=3, tombstones=0.1, batches=25) for acks in (-1, 1))

COMPACTION = Promise(
    "compaction",
    "While logs are compacted, crashes of any kind leave the last value of every key.",
    (*POWER, *KILLS, *HARMLESS),
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
        {**FLUSHED, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"},
        {
            **FLUSHED,
            "cleanup.policy": "compact",
            "min.cleanable.dirty.ratio": "0.01",
            "delete.retention.ms": "0",
        },
    ),
    _KEYED,
    segments=(SMALL_SEGMENTS, TINY_SEGMENTS),
    properties={"log.cleaner.backoff.ms": "20"},
)

RETENTION = Promise(
    "retention",
    "While retention removes segments, crashes of any kind lose nothing else.",
    (*POWER, *KILLS, *HARMLESS),
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
        {**FLUSHED, "retention.bytes": "4000", "file.delete.delay.ms": "0"},
        {**FLUSHED, "retention.bytes": "4000", "file.delete.delay.ms": "100"},
        {**FLUSHED, "retention.ms": "150", "file.delete.delay.ms": "50"},
    ),
    (Style(batches=25), Style(acks=1, batches=25)),
    segments=(SMALL_SEGMENTS, TINY_SEGMENTS),
    properties={"log.retention.check.interval.ms": "30"},
)

PROMISES = {
    promise.name: promise
    for promise in (
        KILL,
        POWER_LOSS,
        CLEAN_PREFIX,
        FAILING_DIRECTORY,
        COMPACTION,
        RETENTION,
        *COORDINATION,
    )
}
