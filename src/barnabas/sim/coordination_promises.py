"""What groups and transactions promise, whatever crashes: polls, offsets, all or nothing, exactly once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from barnabas.sim import checkers as check
from barnabas.sim import group_checkers as groups
from barnabas.sim import transaction_checkers as transactions
from barnabas.sim.admins import Topic
from barnabas.sim.checkers import Checker
from barnabas.sim.crews import GroupProtocol, Hiring, Readers, Version, Workers, Writers
from barnabas.sim.faults import Kind
from barnabas.sim.producers import Style
from barnabas.sim.promise import (
    FLUSHED,
    HARMLESS,
    KILLS,
    POWER,
    SMALL_SEGMENTS,
    EveryStep,
    Promise,
    Variation,
)
from barnabas.sim.world import SeededRandom

OUTPUT = "output"
_SESSION_TIMEOUT_MS = 300
_REBALANCE_TIMEOUT_MS = 400
_STEPS = 150
_STATIC_CHANCE = 0.3
_PEOPLE = (Kind.FREEZE, Kind.FREEZE, Kind.STRAY, Kind.STRAY, Kind.STRAY)


def coordinators(*, one_leader: bool) -> tuple[Checker, ...]:
    """What groups and transactions promise on one broker and on several: only there another leader may know
    less of what is stable than the one before."""
    return (
        groups.PollsInOrder(),
        groups.NoPollSkip(),
        groups.NothingUnseen(),
        groups.CommitsAreKept(),
        groups.CommitsAreFenced(),
        groups.GroupsSettle(),
        transactions.NoLostTransaction(),
        transactions.NoAbortedRead(),
        transactions.NoTornTransaction(),
        transactions.StableReads(one_leader=one_leader),
        transactions.TransactionsEnd(),
    )


EVERYBODY: tuple[Checker, ...] = (
    check.NothingBroke(),
    check.NothingInvented(),
    check.CreatedTopicsExist(),
    check.NoLostWrite(),
    check.NoDuplicate(),
    check.InOrder(),
    check.OneValuePerOffset(),
    check.HighWatermarkRises(),
    check.WholeReads(),
    check.ReadersKeepTheirPlace(),
    *coordinators(one_leader=True),
)

# As Kafka's own tests: what takes minutes in the field takes fractions of a second.
PROPERTIES = {
    "offsets.topic.num.partitions": "2",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "2",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "50",
    "group.min.session.timeout.ms": "50",
    "group.consumer.min.session.timeout.ms": "50",
    "group.consumer.session.timeout.ms": str(_SESSION_TIMEOUT_MS),
    "group.consumer.min.heartbeat.interval.ms": "10",
    "group.consumer.heartbeat.interval.ms": "70",
}
_COMPACTED = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", **SMALL_SEGMENTS}
_VARIATIONS = (
    Variation({"group.initial.rebalance.delay.ms": "0", "group.consumer.assignment.interval.ms": "0"}),
    Variation({"group.initial.rebalance.delay.ms": "60", "group.consumer.assignment.interval.ms": "150"}),
    Variation(
        {
            "group.initial.rebalance.delay.ms": "0",
            "group.consumer.assignment.interval.ms": "0",
            "log.cleaner.backoff.ms": "20",
        },
        (Topic("__consumer_offsets", 2, _COMPACTED), Topic("__transaction_state", 2, _COMPACTED)),
    ),
)


def some_readers(random: SeededRandom) -> list[Hiring]:
    protocol = random.pick(tuple(GroupProtocol))
    desks = random.between(1, 3)
    times = (_SESSION_TIMEOUT_MS, _REBALANCE_TIMEOUT_MS)
    static = random.chance(_STATIC_CHANCE)
    return [Readers("readers", protocol, desks, random.chance(0.5), *times, static=static)]


def some_writers(random: SeededRandom) -> list[Hiring]:
    return [
        Writers(f"writer-{at}", random.pick(tuple(Version)), random.between(1, 2), random.between(3, 8))
        for at in range(random.between(1, 2))
    ]


def some_workers(random: SeededRandom) -> list[Workers]:
    protocol, version = random.pick(tuple(GroupProtocol)), random.pick(tuple(Version))
    times = (_SESSION_TIMEOUT_MS, _REBALANCE_TIMEOUT_MS)
    desks, static = random.between(1, 3), random.chance(_STATIC_CHANCE)
    return [Workers("workers", protocol, desks, version, OUTPUT, *times, static=static)]


_KILLED = Promise(
    "groups",
    "Members come, go and freeze, and the broker is killed: a group loses no commit, lets nobody commit for "
    "what is another's, skips nothing, and is stable in the end.",
    (*KILLS, *HARMLESS, *_PEOPLE),
    EVERYBODY,
    Kind.KILL,
    styles=(Style(batches=14, think_ms=350), Style(acks=1, batches=14, think_ms=350)),
    producers=(1, 2),
    directories=(1,),
    segments=({}, SMALL_SEGMENTS),
    properties=PROPERTIES,
    faults_max=6,
    faults_ms=1000,
    hires=some_readers,
    variations=_VARIATIONS,
)

GROUPS = _KILLED

TRANSACTIONS = replace(
    _KILLED,
    name="transactions",
    says="Producers commit, abort, dawdle and fence each other, requests come late, and the broker is "
    "killed: no transaction is torn, lost, seen before its time or after its abort, and none stays open.",
    producers=(0, 1),
    hires=some_writers,
)

EXACTLY_ONCE = replace(
    _KILLED,
    name="exactly_once",
    says="Workers consume, transform and produce, die and come back as zombies, and the broker is killed: of "
    "every record there is one result.",
    checkers=(*EVERYBODY, transactions.ExactlyOnce(OUTPUT)),
    producers=(1, 1),
    hires=lambda random: [*some_workers(random)],
)

_FLUSHING = {**PROPERTIES, "log.flush.interval.messages": "1"}


def in_the_dark(promise: Promise) -> Promise:
    return replace(
        promise,
        name=f"{promise.name}_power_loss",
        says=f"{promise.says} With a flush per append, the same when the power fails.",
        kinds=(*POWER, *HARMLESS, *_PEOPLE),
        last=Kind.POWER_LOSS,
        topic_configs=(FLUSHED,),
        properties=_FLUSHING,
    )


def at_every_step(promise: Promise, hires: Callable[[SeededRandom], list[Hiring]]) -> Promise:
    """In a short story, so that its steps can be counted to the end."""
    return replace(
        promise,
        name=f"{promise.name}_every_step",
        says=f"{promise.says} One crash, after the first change of the disk, the second, the third…",
        kinds=(),
        every_step=EveryStep(_STEPS, Kind.KILL),
        styles=(Style(batches=4, think_ms=60),),
        producers=(min(promise.producers[0], 1),) * 2,
        faults_ms=400,
        hires=hires,
    )


def _both_protocols(random: SeededRandom) -> list[Hiring]:
    times = (_SESSION_TIMEOUT_MS, _REBALANCE_TIMEOUT_MS)
    return [
        Readers(f"readers-{protocol.value}", protocol, random.between(1, 2), random.chance(0.5), *times)
        for protocol in (GroupProtocol.CLASSIC, GroupProtocol.CONSUMER)
    ]


def _both_versions(_random: SeededRandom) -> list[Hiring]:
    return [Writers(f"writer-{version.value}", version, rivals=1, transactions=2) for version in Version]


def _few_workers(random: SeededRandom) -> list[Hiring]:
    return [replace(hiring, desks=1) for hiring in some_workers(random)]


_BY_CHANCE = (GROUPS, TRANSACTIONS, EXACTLY_ONCE)
COORDINATION = (
    *_BY_CHANCE,
    *map(in_the_dark, _BY_CHANCE),
    at_every_step(GROUPS, _both_protocols),
    at_every_step(TRANSACTIONS, _both_versions),
    at_every_step(EXACTLY_ONCE, _few_workers),
)
