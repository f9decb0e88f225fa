"""The run: load on, faults until the time is over, everything mended, everything read, the verdict."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from barnabas.wire import Cluster
from barnabas.wire.admin import topics
from chaos import outages, verdict
from chaos.faults import Fault, Kind, faults
from chaos.load import Ack, IdempotentLoad
from chaos.readers import GroupMember, read_everything
from chaos.stage import BROKER_COUNT, Stage
from chaos.transactional import Outcome, TransactionalLoad

IDEMPOTENT, TRANSACTIONAL = "idempotent", "transactional"
PARTITIONS = 6
_PATIENCE_S = 120.0
# After these, another broker has to lead what the victim led.
_ELECTING = {Kind.KILL, Kind.KILL_AND_WAIT, Kind.RESTART, Kind.PAUSE, Kind.EMPTY_DISK}


class Election(NamedTuple):
    kind: Kind
    partition: int
    seconds: float


class Event(NamedTuple):
    """A fault that was suffered, and how long each partition that the victim led was not written."""

    at_s: float  # since the first could come
    fault: Fault
    elections: list[Election]


@dataclass
class Findings:
    fault_counts: Counter[Kind] = field(default_factory=Counter)
    skipped: Counter[Kind] = field(default_factory=Counter)
    events: list[Event] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    acknowledged: int = 0
    transactions: Counter[Outcome] = field(default_factory=Counter)
    new_producers: Counter[str] = field(default_factory=Counter)
    read_by_group: int = 0
    outages: dict[int, outages.Outage] = field(default_factory=dict)
    lasted_s: float = 0.0


class _Struck(NamedTuple):
    fault: Fault
    at_s: float
    led: list[int]  # partitions of the idempotent topic that the victim led


class Run:
    def __init__(self, stage: Stage, seed: int, seconds: float, tell: Callable[[str, float], None]) -> None:
        self._stage = stage
        self._faults = faults(seed, BROKER_COUNT)
        self._seconds = seconds
        self._tell = tell  # what happens now, and the share that is done
        self._findings = Findings()
        self._struck: list[_Struck] = []

    def run(self) -> Findings:
        self._create_topics()
        bootstrap = self._stage.bootstrap
        writers = [IdempotentLoad(bootstrap, name, IDEMPOTENT, PARTITIONS) for name in ("anna", "olga")]
        transactions = TransactionalLoad(bootstrap, "barnabas", TRANSACTIONAL, PARTITIONS)
        members = [GroupMember(bootstrap, "castle", [IDEMPOTENT, TRANSACTIONAL]) for _ in range(2)]
        threads = [*writers, transactions, *members]
        for thread in threads:
            thread.start()
        time.sleep(2)
        began_s = time.monotonic()
        try:
            self._break_things(began_s)
        finally:
            ended_s = time.monotonic()
            self._tell("mending", 1.0)
            self._mend()
            for writer in writers:
                writer.finish(_PATIENCE_S)
            transactions.finish()
            self._let_the_group_catch_up(members)
        self._look_at(writers, began_s, ended_s)
        self._judge(writers, transactions)
        return self._findings

    def _create_topics(self) -> None:
        with Cluster.connect(self._stage.bootstrap) as cluster:
            for name in (IDEMPOTENT, TRANSACTIONAL):
                topics.create(cluster, name, PARTITIONS, 3, {"min.insync.replicas": "2"})
        if not self._stage.wait_until_in_sync(_PATIENCE_S):
            self._findings.problems.append("the copies of new topics never came in sync")

    # --- faults ---

    def _break_things(self, began_s: float) -> None:
        for fault in self._faults:
            self._tell("fine", (time.monotonic() - began_s) / self._seconds)
            time.sleep(fault.after_s)
            self._stage.revive_the_crashed()
            if time.monotonic() - began_s >= self._seconds:
                return
            self._tell(
                f"broker {fault.broker}: {fault.kind.value}", (time.monotonic() - began_s) / self._seconds
            )
            leaders = self._stage.leaders([IDEMPOTENT])
            led = [partition for (_, partition), leader in leaders.items() if leader == fault.broker]
            at_s = time.monotonic()
            if self._stage.suffer(fault):
                self._findings.fault_counts[fault.kind] += 1
                self._struck.append(_Struck(fault, at_s, led))
            else:
                self._findings.skipped[fault.kind] += 1

    def _mend(self) -> None:
        self._stage.revive_the_crashed()
        if not self._stage.wait_until_in_sync(_PATIENCE_S):
            self._findings.problems.append(
                f"not every copy is in sync {_PATIENCE_S:g} s after the last fault"
            )

    def _let_the_group_catch_up(self, members: list[GroupMember]) -> None:
        count, still_s = -1, 0.0
        while still_s < 3.0:
            now = sum(member.record_count for member in members)
            count, still_s = (now, still_s + 0.5) if now == count else (now, 0.0)
            time.sleep(0.5)
        for member in members:
            member.finish()
            self._findings.problems += member.problems
            self._findings.read_by_group += member.record_count

    # --- what came of it ---

    def _look_at(self, writers: list[IdempotentLoad], began_s: float, ended_s: float) -> None:
        self._findings.lasted_s = ended_s - began_s
        acks: dict[int, list[Ack]] = defaultdict(list)
        for writer in writers:
            for partition, rows in writer.acks.items():
                acks[partition] += rows
        for partition in range(PARTITIONS):
            self._findings.outages[partition] = outages.outage_of(acks[partition], began_s, ended_s)
        for struck in self._struck:
            elections = self._elections(struck, acks) if struck.fault.kind in _ELECTING else []
            self._findings.events.append(Event(struck.at_s - began_s, struck.fault, elections))

    def _elections(self, struck: _Struck, acks: dict[int, list[Ack]]) -> list[Election]:
        found = []
        for partition in struck.led:
            seconds = outages.seconds_until_written(acks[partition], struck.at_s)
            if seconds is None:
                self._findings.problems.append(f"nobody wrote to partition {partition} after {struck.fault}")
            else:
                found.append(Election(struck.fault.kind, partition, seconds))
        return found

    def _judge(self, writers: list[IdempotentLoad], transactions: TransactionalLoad) -> None:
        findings, bootstrap = self._findings, self._stage.bootstrap
        self._tell("reading everything", 1.0)
        found = read_everything(bootstrap, IDEMPOTENT, PARTITIONS, _PATIENCE_S)
        for writer in writers:
            findings.acknowledged += sum(map(len, writer.acknowledged.values()))
            findings.problems += verdict.idempotent_problems(writer.producer_name, writer.acknowledged, found)
            findings.problems += writer.errors[:5]
        committed = read_everything(bootstrap, TRANSACTIONAL, PARTITIONS, _PATIENCE_S)
        findings.problems += verdict.transaction_problems(transactions.outcomes, committed, PARTITIONS)
        findings.transactions = Counter(transactions.outcomes.values())
        findings.new_producers = transactions.begun
        findings.problems += self._stage.crashes
        for what, count in (("records", findings.acknowledged), ("transactions", len(transactions.outcomes))):
            if not count:
                findings.problems.append(f"no {what} were written at all")
        everything = sum(map(len, found.values())) + sum(map(len, committed.values()))
        if findings.read_by_group < everything:
            findings.problems.append(
                f"the group read {findings.read_by_group} of {everything} records and went no further"
            )
