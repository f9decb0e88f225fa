"""Each checker of a cluster can fail: brokers broken on purpose, in one place, are caught within a few seeds.

What a mutation does is a bug that somebody could write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.simulation.seeds import first_broken_seed

from barnabas.broker import fetching
from barnabas.broker.boot import Boot
from barnabas.broker.cluster import membership
from barnabas.broker.cluster.membership import Membership
from barnabas.broker.coordinators import hosted_shard
from barnabas.broker.coordinators.hosted_shard import HostedShard
from barnabas.broker.readers import ConsumerReader
from barnabas.broker.replication.isr import IsrKeeper
from barnabas.broker.replication.partition import Partition
from barnabas.broker.upkeep import UpkeepHost
from barnabas.controller import elections, liveness
from barnabas.controller import isr as isr_decisions
from barnabas.controller.decision import Decision
from barnabas.controller.isr import Member
from barnabas.log.log import Log
from barnabas.log.segment import Segment
from barnabas.model.image import ClusterImage, PartitionImage
from barnabas.protocol.messages.fetch import FetchPartition
from barnabas.replication.leader import Leading, PendingShrink
from barnabas.sim.cluster.kinds import ClusterKind as Kind
from barnabas.sim.cluster.promise import ClusterPromise
from barnabas.sim.cluster.promises import CLUSTER_PROMISES
from barnabas.sim.producers import Style

_SEEDS = 200


def only_the_leader_counts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Leading, "committed_offset", lambda _self, own_end_offset, *_rest: own_end_offset)


def acknowledged_before_it_is_committed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Partition, "is_committed", lambda self, _last_offset, _acks: self.log is not None)


def a_proposal_counts_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PendingShrink, "maximal", PendingShrink.proposed)


def consumers_read_what_is_not_committed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ConsumerReader, "upper_offset", lambda _self, log: log.log_end_offset)


def nobody_is_told_to_cut_its_log(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fetching, "_diverges", lambda *_arguments: False)


def anybody_is_elected(patch: pytest.MonkeyPatch) -> None:
    def careless(image: ClusterImage, partition: PartitionImage, *, unclean: bool) -> int:
        if partition.leader in partition.isr:
            return partition.leader
        return next((broker for broker in reversed(partition.replicas) if image.may_lead(broker)), -1)

    patch.setattr(elections, "_next_leader", careless)


def every_topic_is_led_by_whoever_is_there(patch: pytest.MonkeyPatch) -> None:
    next_leader = elections._next_leader

    def careless(image: ClusterImage, partition: PartitionImage, *, unclean: bool) -> int:
        leader = next_leader(image, partition, unclean=unclean)
        return next(filter(image.may_lead, partition.replicas), -1) if leader < 0 else leader

    patch.setattr(elections, "_next_leader", careless)


def a_new_leader_keeps_the_epoch(patch: pytest.MonkeyPatch) -> None:
    def careless(
        before: PartitionImage, after: PartitionImage, *, is_renewed: bool = False
    ) -> PartitionImage:
        if after == before and not is_renewed:
            return before
        return replace(after, partition_epoch=before.partition_epoch + 1)

    for module in (elections, isr_decisions, liveness):
        if hasattr(module, "numbered"):
            patch.setattr(module, "numbered", careless)


def every_start_counts_as_clean(patch: pytest.MonkeyPatch) -> None:
    begin = Membership.begin

    def trusting(self: Membership, session_id: int, *, unclean: bool) -> None:
        begin(self, session_id, unclean=False)

    patch.setattr(Membership, "begin", trusting)


def an_unclean_start_stays_eligible(patch: pytest.MonkeyPatch) -> None:
    settled = elections.settled

    def trusting(*arguments: Any, **rest: Any) -> PartitionImage:
        return settled(*arguments, **{**rest, "unclean_starts": ()})

    patch.setattr(liveness, "settled", trusting)


def eligible_replicas_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    with_isr = elections.with_isr

    def forgetful(*arguments: Any, **rest: Any) -> PartitionImage:
        return replace(with_isr(*arguments, **rest), elr=())

    for module in (elections, isr_decisions):
        patch.setattr(module, "with_isr", forgetful)


def who_was_let_in_is_suspected_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(membership, "_is_unclean", lambda _own: True)


def coordinators_answer_before_it_is_committed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(HostedShard, "_wait", lambda _self, outcome, _last_offset: hosted_shard._finish(outcome))


def followers_show_what(patch: pytest.MonkeyPatch, upper_offset: Callable[[Log], int]) -> None:
    log_of, leader_upper_offset = ConsumerReader.log_of, ConsumerReader.upper_offset
    followed: set[Log] = set()

    def noting(self: ConsumerReader, partition: Partition, asked: FetchPartition) -> Log:
        log = log_of(self, partition, asked)
        (followed.discard if partition.is_leader else followed.add)(log)
        return log

    def careless(self: ConsumerReader, log: Log) -> int:
        return upper_offset(log) if log in followed else leader_upper_offset(self, log)

    patch.setattr(ConsumerReader, "log_of", noting)
    patch.setattr(ConsumerReader, "upper_offset", careless)


def followers_show_all_they_have(patch: pytest.MonkeyPatch) -> None:
    followers_show_what(patch, lambda log: log.log_end_offset)


def followers_show_open_transactions(patch: pytest.MonkeyPatch) -> None:
    followers_show_what(patch, lambda log: log.high_watermark)


def who_came_back_counts_as_who_went(patch: pytest.MonkeyPatch) -> None:
    """Neither the leader nor the controller looks at broker epochs (KIP-903)."""
    eligible = isr_decisions._is_eligible

    def forgetful(image: ClusterImage, member: Member, isr: tuple[int, ...]) -> bool:
        return eligible(image, Member(member.broker_id), isr)

    patch.setattr(isr_decisions, "_is_eligible", forgetful)
    patch.setattr(IsrKeeper, "may_join", lambda self, broker_id, _epoch: self._node.image.may_lead(broker_id))


def controllers_are_not_fenced(patch: pytest.MonkeyPatch) -> None:
    multis = Decision.multis
    patch.setattr(Decision, "multis", lambda self: [part[1:] for part in multis(self) if part[1:]])


def nobody_joins_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Leading, "may_propose", lambda *_arguments: False)


def strays_are_kept(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Boot, "_drop_strays", lambda *_arguments: None)


def what_is_cut_is_soon_forgotten(patch: pytest.MonkeyPatch) -> None:
    """It stays vouched for, and is not synced before its place is taken."""
    patch.setattr(UpkeepHost, "may_cut", lambda *_arguments: True)
    patch.setattr(Segment, "cut_waits", property(lambda _self: False, lambda *_arguments: None))


_KILLED = CLUSTER_PROMISES["cluster_kill"]
_BUSY = replace(
    _KILLED,
    kinds=(Kind.KILL_AHEAD,),
    styles=(Style(batches=40, think_ms=80, begins_alone=True),),
    brokers=(3,),
)
_CUT = replace(
    CLUSTER_PROMISES["cluster_partition"],
    kinds=(Kind.ISOLATE_AHEAD,),
    styles=(Style(batches=40, think_ms=80, begins_alone=True),),
    brokers=(3,),
)
_DARK = CLUSTER_PROMISES["cluster_power_loss"]
_COORDINATED = replace(
    CLUSTER_PROMISES["cluster_groups"], kinds=(Kind.KILL_COORDINATOR_AHEAD,), faults_max=10, faults_ms=3500
)
_TRANSACTED = replace(
    CLUSTER_PROMISES["cluster_transactions"],
    kinds=(Kind.KILL_COORDINATOR_AHEAD,),
    faults_max=10,
    faults_ms=3500,
)
_NEARBY = replace(_BUSY, nearby=1.0)
_NEARBY_TRANSACTED = replace(CLUSTER_PROMISES["cluster_transactions"], nearby=1.0)
_UNHEARD = replace(
    _DARK,
    kinds=(Kind.RETURN_UNHEARD,),
    styles=_BUSY.styles,
    last=None,
    brokers=(3,),
)
_STOPPED_IN_THE_DARK = replace(
    _DARK, kinds=(Kind.FORGET_A_CUT,), styles=_BUSY.styles, faults_max=6, brokers=(3,)
)
_CARELESS = replace(CLUSTER_PROMISES["cluster_unclean"], kinds=(Kind.LEADER_AWAY,))
_ZOMBIES = replace(CLUSTER_PROMISES["cluster_sessions"], kinds=(Kind.DEPOSE,), faults_max=8, creates=8)


@pytest.mark.parametrize(
    ("mutate", "promise", "checker"),
    [
        (only_the_leader_counts, _BUSY, "NoLostWrite"),
        (only_the_leader_counts, _CUT, "CommittedStays"),
        (acknowledged_before_it_is_committed, _BUSY, "NoLostWrite"),
        (a_proposal_counts_at_once, _CUT, "NoLostWrite"),
        (consumers_read_what_is_not_committed, _BUSY, "CommittedStays"),
        (only_the_leader_counts, _CUT, "NothingReadVanishes"),
        (nobody_is_told_to_cut_its_log, _CUT, "ReplicasAgree"),
        (anybody_is_elected, _KILLED, "StatesFollow"),
        (every_topic_is_led_by_whoever_is_there, _CARELESS, "Beside: StatesFollow"),
        (a_new_leader_keeps_the_epoch, _KILLED, "StatesFollow"),
        (a_new_leader_keeps_the_epoch, _BUSY, "LogsMatch"),
        (every_start_counts_as_clean, _DARK, "NoLostWrite"),
        (an_unclean_start_stays_eligible, _DARK, "NoLostWrite"),
        (eligible_replicas_are_forgotten, CLUSTER_PROMISES["cluster_last_replica"], "NoLostWrite"),
        (who_was_let_in_is_suspected_again, CLUSTER_PROMISES["cluster_last_replica"], "NoLostWrite"),
        (coordinators_answer_before_it_is_committed, _COORDINATED, "CommitsAreKept"),
        (coordinators_answer_before_it_is_committed, _TRANSACTED, "NoLostTransaction"),
        (followers_show_all_they_have, _NEARBY, "CommittedStays"),
        (followers_show_open_transactions, _NEARBY_TRANSACTED, "StableReads"),
        (who_came_back_counts_as_who_went, _UNHEARD, "NoLostWrite"),
        (controllers_are_not_fenced, _ZOMBIES, "StatesFollow"),
        (what_is_cut_is_soon_forgotten, _STOPPED_IN_THE_DARK, "ReplicasAgree"),
        (nobody_joins_again, _KILLED, "ClusterHeals"),
        (strays_are_kept, CLUSTER_PROMISES["cluster_deletion"], "DeletedStaysDeleted"),
    ],
)
def test_a_broken_cluster_is_caught(
    mutate: Callable[[pytest.MonkeyPatch], None],
    promise: ClusterPromise,
    checker: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mutate(monkeypatch)
    assert first_broken_seed(promise, checker, _SEEDS) is not None, f"{checker} saw nothing wrong"
