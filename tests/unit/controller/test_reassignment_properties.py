"""Whatever moves, joins, dies and returns in whatever order: leaders lead from the in-sync replicas, these
are replicas, nothing acknowledged is given up while it can be kept, and store and image say the same."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.unit.controller.support import Cluster, Result

from barnabas.controller.decision import Decision
from barnabas.controller.elections import ElectionRules
from barnabas.controller.isr import Member, ProposedIsr, alter_isrs
from barnabas.controller.liveness import settle
from barnabas.controller.reassignment import Move, alter_reassignments, completions, is_moving
from barnabas.controller.topics import Assignment, NewTopic
from barnabas.model.image import BrokerChanged, PartitionImage

BROKERS = (1, 2, 3, 4, 5)
RULES = ElectionRules(2, unclean=False)


def rules(_topic: str) -> ElectionRules:
    return RULES


class Moving(RuleBasedStateMachine):
    @initialize(
        replicas=st.lists(st.sampled_from(BROKERS), min_size=1, max_size=4, unique=True),
    )
    def begin(self, replicas: list[int]) -> None:
        self.cluster = Cluster(*BROKERS[1:])
        self.cluster.create(NewTopic("t", assignments=(Assignment(0, tuple(replicas)),)))

    @property
    def partition(self) -> PartitionImage:
        return self.cluster.image.topics["t"].partitions[0]

    @rule(wanted=st.lists(st.sampled_from(BROKERS), min_size=1, max_size=4, unique=True))
    def move(self, wanted: list[int]) -> None:
        if not is_moving(self.partition):
            self.origin = set(self.partition.replicas)
        kept_isr = set(self.partition.isr)
        self._carry_out(alter_reassignments(self.cluster.image, [Move("t", 0, tuple(wanted))], rules))
        assert kept_isr & set(self.partition.isr) or not kept_isr

    @rule()
    def cancel(self) -> None:
        before = self.partition
        (result,) = self._carry_out(alter_reassignments(self.cluster.image, [Move("t", 0, None)], rules))
        if result.error:
            assert self.partition == before
        else:
            assert not is_moving(self.partition)
            assert set(self.partition.isr) <= set(before.isr)
            assert self.origin <= set(self.partition.replicas)

    @rule(joining=st.sets(st.sampled_from(BROKERS)), leaving=st.sets(st.sampled_from(BROKERS)))
    def propose(self, joining: set[int], leaving: set[int]) -> None:
        image, before = self.cluster.image, self.partition
        if not before.has_leader or not image.is_active(before.leader):
            return
        wanted = (set(before.isr) | joining & set(before.replicas)) - leaving | {before.leader}
        alive = tuple(Member(broker) for broker in sorted(wanted) if image.may_lead(broker))
        proposed = ProposedIsr(image.topics["t"].id, 0, before.leader_epoch, before.partition_epoch, alive)
        epoch = image.brokers[before.leader].epoch
        self._carry_out(alter_isrs(image, before.leader, epoch, [proposed], rules))

    @rule(broker=st.sampled_from(BROKERS), fenced=st.booleans())
    def come_or_go(self, broker: int, fenced: bool) -> None:
        changed = replace(self.cluster.image.brokers[broker], fenced=fenced)
        self.cluster.image = self.cluster.image.apply([BrokerChanged(changed)])
        self._carry_out(settle(self.cluster.image, rules))
        self._carry_out(completions(self.cluster.image, rules))

    def _carry_out(self, decision: Decision[Result]) -> tuple[Result, ...]:
        before = self.partition
        results = self.cluster.carry_out(decision)
        after = self.partition
        changed = after != before
        assert after.partition_epoch == before.partition_epoch + changed
        assert after.leader_epoch - before.leader_epoch in {0, 1}
        if after.leader != before.leader:
            assert after.leader_epoch > before.leader_epoch
        return results

    @invariant()
    def leaders_and_in_sync_replicas_are_replicas(self) -> None:
        partition = self.partition
        assert len(set(partition.replicas)) == len(partition.replicas) > 0
        for group in (partition.isr, partition.elr, partition.adding, partition.removing):
            assert set(group) <= set(partition.replicas)
        assert partition.leader in partition.isr or not partition.has_leader
        assert partition.isr or partition.elr or partition.last_known_elr

    @invariant()
    def a_move_that_can_end_has_ended(self) -> None:
        assert completions(self.cluster.image, rules).deltas == ()

    @invariant()
    def the_store_says_the_same(self) -> None:
        stored = self.cluster.rebuilt().topics["t"].partitions[0]
        assert stored == self.partition


TestMoving = Moving.TestCase
TestMoving.settings = settings(
    max_examples=40, stateful_step_count=25, suppress_health_check=[HealthCheck.too_slow]
)
