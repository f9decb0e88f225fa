"""What the controller's decisions are for: no leader lacks a committed record, whatever brokers do.

A model of one partition: logs are lists of records, a follower copies its leader's, a leader commits what all
in sync hold if they are enough, a broker that crashes may lose the end of its log. Leaders know every image.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.controller.support import NOW_MS, broker, image_of

from barnabas.controller.decision import Decision
from barnabas.controller.elections import ElectionRules
from barnabas.controller.isr import Member, ProposedIsr, alter_isrs
from barnabas.controller.leadership import ElectionType, balance, elect_leaders
from barnabas.controller.liveness import admit, leave, settle
from barnabas.controller.reassignment import Move, alter_reassignments
from barnabas.model.ids import TopicPartition
from barnabas.model.image import BrokerChanged, BrokerGone, PartitionImage, TopicCreated, TopicImage

BROKERS = (1, 2, 3, 4)
PLACE = TopicPartition("t", 0)
STEPS = st.tuples(
    st.sampled_from(
        ["write", "append", "catch up", "shrink", "stop", "crash", "start", "start", "leave", "elect", "move"]
    ),
    st.sampled_from((1, 2, 3, 1, 2, 3, 4)),
    st.integers(0, 3),
)


class Model:
    def __init__(self, replicas: tuple[int, ...], min_insync_replicas: int) -> None:
        self.rules = ElectionRules(min_insync_replicas, unclean=False)
        first = PartitionImage(0, replicas, replicas, replicas[0])
        self.image = image_of(*map(broker, BROKERS)).apply(
            [TopicCreated(TopicImage("t", bytes(range(16)), (first,)))]
        )
        self.logs: dict[int, tuple[int, ...]] = dict.fromkeys(BROKERS, ())
        self.committed: tuple[int, ...] = ()
        self.crashed: set[int] = set()
        self.lives = 1
        self.records = 0

    @property
    def partition(self) -> PartitionImage:
        return self.image.topics["t"].partitions[0]

    def carry_out(self, decision: Decision[object], unclean_start: int = 0) -> None:
        before = self.partition
        self.image = self.image.apply(decision.deltas)
        after = self.partition
        if after.leader == before.leader or not after.has_leader:
            return
        if not {*before.isr, *before.elr} - {unclean_start}:
            # Everybody crashed: the last known leader leads, and what it lost is lost.
            self.committed = common(self.committed, self.logs[after.leader])
        assert self.logs[after.leader][: len(self.committed)] == self.committed

    def rules_of(self, _topic: str) -> ElectionRules:
        return self.rules

    def leader(self) -> int | None:
        return self.partition.leader if self.image.is_active(self.partition.leader) else None

    def step(self, what: str, one: int, number: int) -> None:
        match what:
            case "write" | "append" | "catch up" | "shrink":
                leader = self.leader()
                if leader is not None:
                    self.replicate(what, leader, one)
            case "stop" | "crash" if one in self.image.brokers:
                if what == "crash":
                    self.crashed.add(one)
                self.image = self.image.apply([BrokerGone(one)])
                self.carry_out(settle(self.image, self.rules_of))
            case "start" if one not in self.image.brokers:
                self.start(one, number)
            case "leave" if one in self.image.brokers:
                self.carry_out(leave(self.image, one, self.rules_of))
            case "elect":
                self.carry_out(balance(self.image, 0))
                self.carry_out(elect_leaders(self.image, ElectionType.PREFERRED, None, self.rules_of))
            case "move":
                target = tuple(dict.fromkeys((one, *self.partition.replicas[: number + 1])))
                self.carry_out(alter_reassignments(self.image, [Move("t", 0, target)], self.rules_of))
            case _:
                pass

    def start(self, one: int, lost: int) -> None:
        self.lives += 1
        is_unclean = one in self.crashed
        if is_unclean:
            self.logs[one] = self.logs[one][: max(0, len(self.logs[one]) - lost)]
        self.image = self.image.apply([BrokerChanged(broker(one, fenced=is_unclean, epoch=self.lives))])
        if is_unclean:
            self.crashed.discard(one)
            self.carry_out(admit(self.image, one, self.rules_of, now_ms=NOW_MS), one)
        self.carry_out(settle(self.image, self.rules_of))

    def replicate(self, what: str, leader: int, one: int) -> None:
        partition = self.partition
        is_follower = one in partition.replicas and one in self.image.brokers and one != leader
        if what in {"write", "append"}:
            self.records += 1
            self.logs[leader] = (*self.logs[leader], self.records)
        if what == "write":
            for each in self.image.brokers.keys() & set(partition.isr):
                self.logs[each] = self.logs[leader]
            self.commit(leader)
        elif what == "shrink" and one != leader:
            self.propose(leader, tuple(each for each in partition.isr if each != one))
        elif what == "catch up" and is_follower:
            self.logs[one] = self.logs[leader]
            self.propose(leader, (*partition.isr, one))

    def commit(self, leader: int) -> None:
        isr = self.partition.isr
        if len(isr) >= min(self.rules.min_insync_replicas, len(self.partition.replicas)):
            shared = self.logs[leader]
            for each in isr:
                shared = common(shared, self.logs[each])
            if len(shared) > len(self.committed):
                self.committed = shared

    def propose(self, leader: int, isr: tuple[int, ...]) -> None:
        known = self.partition
        members = tuple(Member(each) for each in dict.fromkeys(isr))
        proposed = ProposedIsr(bytes(range(16)), 0, known.leader_epoch, known.partition_epoch, members)
        epoch = self.image.brokers[leader].epoch
        self.carry_out(alter_isrs(self.image, leader, epoch, [proposed], self.rules_of))


def common(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    length = 0
    while length < min(len(first), len(second)) and first[length] == second[length]:
        length += 1
    return first[:length]


@settings(max_examples=150)
@given(
    st.sampled_from((3, 3, 2, 1)), st.sampled_from((2, 2, 1, 3)), st.lists(STEPS, min_size=20, max_size=60)
)
def test_no_leader_lacks_a_committed_record(
    replica_count: int, min_insync_replicas: int, steps: list[tuple[str, int, int]]
) -> None:
    model = Model(BROKERS[:replica_count], min_insync_replicas)
    for step in steps:
        model.step(*step)
        partition = model.partition
        assert partition.has_leader <= (partition.leader in partition.isr)
        assert set(partition.isr) | set(partition.elr) <= set(partition.replicas)
        for each in partition.elr:
            assert each in model.crashed or model.logs[each][: len(model.committed)] == model.committed


def test_the_model_loses_records_when_rules_are_broken() -> None:
    """It can fail: with an unclean election the promise does not hold."""
    model = Model((1, 2), 1)
    for step in (("shrink", 2, 0), ("write", 1, 0), ("stop", 1, 0)):
        model.step(*step)
    assert not model.partition.has_leader
    model.rules = replace(model.rules, unclean=True)
    try:
        model.carry_out(settle(model.image, model.rules_of))
    except AssertionError:
        return
    raise AssertionError("an unclean election went unnoticed")
