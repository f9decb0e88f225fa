"""Each checker of groups and transactions can fail: a fence dropped, an answer too early, a thing forgotten.

What a mutation does is a bug that somebody could write in a coordinator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from typing import Any

import pytest
from tests.simulation.seeds import first_broken_seed

from barnabas.broker.coordinators.coordinator_loading import Loading
from barnabas.broker.coordinators.hosted_shard import HostedShard
from barnabas.broker.coordinators.marker_carrier import MarkerCarrier
from barnabas.broker.dispatch import Context as RequestContext
from barnabas.broker.replication.partition import Partition
from barnabas.coordination.outcome import NOTHING, Outcome, Producer
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.classic.rebalance import Rebalancer
from barnabas.groups.consumer.context import Context
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.reconciliation import Reconciliation
from barnabas.groups.offsets.store import Committed, Offsets
from barnabas.log import producer_state
from barnabas.log.log import Log
from barnabas.log.transaction_index import AbortedTransaction
from barnabas.model.ids import TopicPartition
from barnabas.sim.coordination_promises import EXACTLY_ONCE, GROUPS, TRANSACTIONS, in_the_dark
from barnabas.sim.crews import GroupProtocol, Hiring, Readers, Version, Workers, Writers
from barnabas.sim.faults import Kind
from barnabas.sim.promise import Promise
from barnabas.sim.world import SeededRandom
from barnabas.transactions import shard as transaction_shard
from barnabas.transactions.ending import Verdict, judge
from barnabas.transactions.shard import TransactionShard
from barnabas.transactions.upkeep import Upkeep

_SEEDS = 400


# --- fences ------------------------------------------------------------------------------------------------


def generations_are_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ClassicGroup, "check_offset_commit", lambda *_arguments, **_more: None)


def an_instance_id_is_enough(patch: pytest.MonkeyPatch) -> None:
    check = ClassicGroup.check_member

    def trusting(self: ClassicGroup, member_id: str, instance_id: str | None) -> Any:
        known = self.static_members.get(instance_id or "", member_id)
        return check(self, known, instance_id)

    patch.setattr(ClassicGroup, "check_member", trusting)


def old_epochs_may_write(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(producer_state, "check_epoch", lambda *_arguments: None)
    patch.setattr(transaction_shard, "_check_owner", lambda *_arguments: None)


def old_epochs_may_end(patch: pytest.MonkeyPatch) -> None:
    def careless(transaction: Any, _producer: Producer, *rest: Any) -> Verdict:
        return judge(transaction, transaction.producer, *rest)

    patch.setattr(transaction_shard, "judge", careless)


def member_epochs_are_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ConsumerGroup, "check_offset_commit", lambda *_arguments, **_more: None)


def partitions_are_given_before_they_are_given_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Reconciliation, "_may_take", lambda *_arguments: True)


# --- answers -----------------------------------------------------------------------------------------------


def answers_come_before_the_append(patch: pytest.MonkeyPatch) -> None:
    """And leave at once, although the request is still being handled."""
    apply = HostedShard.apply

    def hasty(self: HostedShard[Any], outcome: Outcome, *rest: Any) -> None:
        answers, outcome.answers = outcome.answers, []
        for ticket, response in answers:
            ticket.answer(response)
        apply(self, outcome, *rest)

    patch.setattr(HostedShard, "apply", hasty)
    patch.setattr(RequestContext, "reply", lambda self, message: self.session.send([self.frame(message)]))


def answers_come_before_the_fsync(patch: pytest.MonkeyPatch) -> None:
    is_committed = Partition.is_committed

    def hasty(self: Partition, last_offset: int, acks: int) -> bool:
        return self.topic.startswith("__") or is_committed(self, last_offset, acks)

    patch.setattr(Partition, "is_committed", hasty)


# --- reading -----------------------------------------------------------------------------------------------


def open_transactions_are_shown(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Log, "last_stable_offset", property(lambda self: self.high_watermark))


def aborted_transactions_are_not_listed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Log, "aborted_transactions", lambda *_arguments: [])


def fetches_go_beyond_the_last_stable_offset(patch: pytest.MonkeyPatch) -> None:
    read = Log.read

    def greedy(self: Log, offset: int, max_bytes: int, *, upper_offset: int, **rest: Any) -> Any:
        return read(self, offset, max_bytes, upper_offset=max(upper_offset, self.high_watermark), **rest)

    patch.setattr(Log, "read", greedy)


def committed_transactions_are_listed_as_aborted(patch: pytest.MonkeyPatch) -> None:
    listed = Log.aborted_transactions

    def spiteful(self: Log, found: Any, upper_offset: int) -> list[Any]:
        lies = [AbortedTransaction(producer_id, 0, 0, 0) for producer_id in range(0, 4000, 2)]
        return [*listed(self, found, upper_offset), *lies]

    patch.setattr(Log, "aborted_transactions", spiteful)


def offsets_are_read_one_too_high(patch: pytest.MonkeyPatch) -> None:
    put = Offsets._put

    def generous(self: Offsets, group_id: str, topic: str, partition: int, offset: Committed) -> None:
        value = copy(offset.value)
        value.offset += 1
        put(self, group_id, topic, partition, offset._replace(value=value))

    patch.setattr(Offsets, "_put", generous)


def offsets_of_open_transactions_are_shown(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Offsets, "is_pending", lambda *_arguments: False)


# --- after a crash -----------------------------------------------------------------------------------------


def pending_offsets_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    replay = Loading._replay

    def forgetful(self: Loading, record: Any, producer: Producer | None) -> None:
        if producer is None:
            replay(self, record, producer)

    patch.setattr(Loading, "_replay", forgetful)


def offsets_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Loading, "_replay", lambda *_arguments: None)


def decided_transactions_are_not_finished(patch: pytest.MonkeyPatch) -> None:
    def idle(self: TransactionShard) -> Iterable[Outcome]:
        self._upkeep.start()
        return ()

    patch.setattr(TransactionShard, "loaded", idle)


# --- time --------------------------------------------------------------------------------------------------


def transactions_never_time_out(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Upkeep, "start", lambda _self: None)


def joins_are_awaited_for_ever(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rebalancer, "_joins_due", lambda *_arguments: NOTHING)
    patch.setattr(Rebalancer, "_session_due", lambda *_arguments: NOTHING)


def the_dead_stay_members(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rebalancer, "_session_due", lambda *_arguments: NOTHING)


def consumers_are_never_given_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Context, "watch_session", lambda *_arguments: None)
    patch.setattr(Context, "watch_revocation", lambda *_arguments: None)


# --- markers -----------------------------------------------------------------------------------------------


def one_marker_says_the_opposite(patch: pytest.MonkeyPatch) -> None:
    attempt = MarkerCarrier._try

    def confused(self: MarkerCarrier, place: TopicPartition) -> None:
        if place.partition:
            self._marker = replace(self._marker, committed=False)
        attempt(self, place)

    patch.setattr(MarkerCarrier, "_try", confused)


def transactional_offsets_count_whatever_the_end(patch: pytest.MonkeyPatch) -> None:
    replay = Offsets.replay

    def rash(self: Offsets, key: Any, value: Any, position: int, _producer: Producer | None) -> None:
        replay(self, key, value, position, None)

    patch.setattr(Offsets, "replay", rash)


# --- the load under which each shows -----------------------------------------------------------------------


def _only(promise: Promise, **wanted: Any) -> Promise:
    """The same promise, when the seed has no choice between protocols."""

    def hires(random: SeededRandom) -> list[Hiring]:
        return [_narrow(hiring, wanted) for hiring in promise.hires(random)]

    return replace(promise, hires=hires)


def _narrow(hiring: Hiring, wanted: dict[str, Any]) -> Hiring:
    known: set[str] = set(type(hiring).__slots__)
    assert isinstance(hiring, Readers | Workers | Writers)
    return replace(hiring, **{name: value for name, value in wanted.items() if name in known})


def _hard(promise: Promise, *kinds: Kind) -> Promise:
    """With nothing but these faults, and many of them."""
    return replace(promise, kinds=kinds, faults_max=10)


_CLASSIC = _only(GROUPS, protocol=GroupProtocol.CLASSIC, desks=2)
_STATIC = _only(GROUPS, protocol=GroupProtocol.CLASSIC, desks=2, static=True)
_CONSUMER = _only(GROUPS, protocol=GroupProtocol.CONSUMER, desks=2)
_CROWD = _hard(_only(GROUPS, protocol=GroupProtocol.CLASSIC, desks=5))
_LATE = _hard(_only(TRANSACTIONS, version=Version.TWO, rivals=1), Kind.STRAY)
_RIVALS = _only(TRANSACTIONS, rivals=2)
_DARK = (Kind.POWER_LOSS, Kind.POWER_LOSS_INSIDE, Kind.SLOW_DISK)
_WORKERS = _only(EXACTLY_ONCE, desks=3)


@pytest.mark.parametrize(
    ("mutate", "promise", "checker"),
    [
        (generations_are_not_looked_at, _CLASSIC, "CommitsAreFenced"),
        (an_instance_id_is_enough, _STATIC, "CommitsAreFenced"),
        (member_epochs_are_not_looked_at, _CONSUMER, "CommitsAreFenced"),
        (partitions_are_given_before_they_are_given_up, _CONSUMER, "CommitsAreFenced"),
        (old_epochs_may_write, _RIVALS, "NoAbortedRead"),
        (old_epochs_may_end, _RIVALS, "NoAbortedRead"),
        (old_epochs_may_end, _LATE, "NoAbortedRead"),
        (answers_come_before_the_append, _hard(_CLASSIC, Kind.KILL_INSIDE), "CommitsAreKept"),
        (answers_come_before_the_append, _hard(TRANSACTIONS, Kind.KILL_INSIDE), "NoLostTransaction"),
        (answers_come_before_the_fsync, _hard(in_the_dark(_CLASSIC), *_DARK), "CommitsAreKept"),
        (answers_come_before_the_fsync, _hard(in_the_dark(TRANSACTIONS), *_DARK), "NoLostTransaction"),
        (open_transactions_are_shown, TRANSACTIONS, "NoAbortedRead"),
        (aborted_transactions_are_not_listed, TRANSACTIONS, "NoAbortedRead"),
        (fetches_go_beyond_the_last_stable_offset, TRANSACTIONS, "StableReads"),
        (committed_transactions_are_listed_as_aborted, TRANSACTIONS, "NoPollSkip"),
        (offsets_are_read_one_too_high, _CLASSIC, "NothingUnseen"),
        (offsets_of_open_transactions_are_shown, _WORKERS, "ExactlyOnce"),
        (pending_offsets_are_forgotten, _WORKERS, "CommitsAreKept"),
        (pending_offsets_are_forgotten, _WORKERS, "NoTornTransaction"),
        (offsets_are_forgotten, _CLASSIC, "CommitsAreKept"),
        (decided_transactions_are_not_finished, TRANSACTIONS, "NothingBroke"),
        (transactions_never_time_out, TRANSACTIONS, "TransactionsEnd"),
        (joins_are_awaited_for_ever, _CLASSIC, "NothingBroke"),
        (the_dead_stay_members, _CLASSIC, "NothingBroke"),
        (the_dead_stay_members, _CROWD, "GroupsSettle"),
        (consumers_are_never_given_up, _CONSUMER, "NothingBroke"),
        (one_marker_says_the_opposite, TRANSACTIONS, "NoTornTransaction"),
        (one_marker_says_the_opposite, TRANSACTIONS, "NoLostTransaction"),
        (transactional_offsets_count_whatever_the_end, _WORKERS, "NoTornTransaction"),
    ],
)
def test_a_broken_coordinator_is_caught(
    mutate: Callable[[pytest.MonkeyPatch], None],
    promise: Promise,
    checker: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mutate(monkeypatch)
    assert first_broken_seed(promise, checker, _SEEDS) is not None, f"{checker} saw nothing wrong"
