"""A transaction's life: partitions join, one decision is made, markers are written, the id rests."""

from __future__ import annotations

import pytest
from tests.support.transactions import ORDERS, PAYMENTS, FakeTransactionHost

from barnabas.coordination.outcome import Producer
from barnabas.model.errors import ErrorCode
from barnabas.protocol.internal.entries import decode_entry, encode_entry
from barnabas.transactions.states import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    ENTERED_FROM,
    ONGOING,
    PREPARE_COMMIT,
    TransactionState,
)

OUTCOMES = pytest.mark.parametrize("committed", [True, False])


@pytest.fixture
def host() -> FakeTransactionHost:
    return FakeTransactionHost()


def begun(host: FakeTransactionHost, version: int = 0) -> Producer:
    owner = host.owner()
    assert host.add(owner, ORDERS, PAYMENTS, version=version).response is ErrorCode.NONE
    return owner


def bumped(producer: Producer) -> Producer:
    return Producer(producer.id, producer.epoch + 1)


def test_every_state_is_entered_from_somewhere_but_none_leaves_a_decision_open() -> None:
    assert set(ENTERED_FROM) == set(TransactionState)
    leads_to = {
        state: {to for to, sources in ENTERED_FROM.items() if state in sources} for state in ENTERED_FROM
    }
    assert leads_to[TransactionState.PREPARE_COMMIT] == {COMPLETE_COMMIT}
    assert leads_to[TransactionState.PREPARE_ABORT] == {COMPLETE_ABORT}


# --- partitions --------------------------------------------------------------------------------------------


def test_the_first_partition_begins_the_transaction(host: FakeTransactionHost) -> None:
    owner = host.owner()
    assert host.of().start_ms == -1
    host.add(owner, ORDERS)
    began_ms = host.of().start_ms
    host.pass_ms(5)
    host.add(owner, PAYMENTS)
    assert (host.of().state, host.of().start_ms, set(host.of().partitions)) == (
        ONGOING,
        began_ms,
        {ORDERS, PAYMENTS},
    )


def test_a_partition_that_is_in_already_costs_no_record(host: FakeTransactionHost) -> None:
    owner = begun(host)
    written = len(host.log)
    assert host.add(owner, ORDERS).response is ErrorCode.NONE
    assert len(host.log) == written


def test_only_the_owner_adds_partitions(host: FakeTransactionHost) -> None:
    owner = host.owner()
    assert host.add(owner, ORDERS, name="unknown").code is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert host.add(Producer(5, 0), ORDERS).code is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert host.add(bumped(owner), ORDERS).code is ErrorCode.PRODUCER_FENCED
    assert host.of().state is EMPTY


def test_verification_tells_what_is_in_and_changes_nothing(host: FakeTransactionHost) -> None:
    owner = host.owner()
    host.add(owner, ORDERS)
    written = len(host.log)
    assert host.verify(owner, ORDERS, PAYMENTS).response == {
        ORDERS: ErrorCode.NONE,
        PAYMENTS: ErrorCode.TRANSACTION_ABORTABLE,
    }
    assert host.verify(bumped(owner), ORDERS).code is ErrorCode.PRODUCER_FENCED
    assert host.verify(owner, ORDERS, name="unknown").code is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    host.end(owner, True)
    assert host.verify(owner, ORDERS).code is ErrorCode.CONCURRENT_TRANSACTIONS
    assert len(host.log) == written + 1


# --- the end, before version 2 -----------------------------------------------------------------------------


@OUTCOMES
def test_the_answer_comes_with_the_decision_and_rest_with_the_last_marker(
    host: FakeTransactionHost, committed: bool
) -> None:
    owner = begun(host)
    assert host.end(owner, committed).response.error_code == 0
    (markers,) = host.markers
    assert (markers.producer, markers.committed, markers.coordinator_epoch) == (owner, committed, 7)
    host.run(lambda: host.transactions.marker_written(markers, [ORDERS]))
    assert host.of().is_ending
    assert host.add(owner, ORDERS).code is ErrorCode.CONCURRENT_TRANSACTIONS
    assert host.end(owner, committed).code is ErrorCode.CONCURRENT_TRANSACTIONS
    host.run(lambda: host.transactions.marker_written(markers, [PAYMENTS]))
    assert host.of().state is (COMPLETE_COMMIT if committed else COMPLETE_ABORT)
    assert host.of().producer == owner
    host.run(lambda: host.transactions.marker_written(markers, [PAYMENTS]))  # said twice


@OUTCOMES
def test_a_repeated_end_is_answered_as_before_and_its_opposite_is_refused(
    host: FakeTransactionHost, committed: bool
) -> None:
    owner = begun(host)
    host.end(owner, committed)
    host.write_markers()
    written = len(host.log)
    assert host.end(owner, committed).response.error_code == 0
    assert host.end(owner, not committed).code is ErrorCode.INVALID_TXN_STATE
    assert len(host.log) == written


def test_there_must_be_something_to_end(host: FakeTransactionHost) -> None:
    owner = host.owner()
    assert host.end(owner, True).code is ErrorCode.INVALID_TXN_STATE
    assert host.end(owner, False).code is ErrorCode.INVALID_TXN_STATE
    assert host.end(owner, True, name="unknown").code is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert host.end(Producer(9, 0), True).code is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert host.end(bumped(owner), True).code is ErrorCode.PRODUCER_FENCED


# --- the end, version 2 ------------------------------------------------------------------------------------


@OUTCOMES
def test_every_end_raises_the_epoch(host: FakeTransactionHost, committed: bool) -> None:
    owner = begun(host, version=2)
    response = host.end(owner, committed, version=2).response
    assert (response.producer_id, response.producer_epoch) == (owner.id, 1)
    assert host.markers[0].producer == (owner.id, 1)
    assert host.markers[0].transaction_version == 2
    host.write_markers()
    assert host.of().producer == (owner.id, 1)


@OUTCOMES
def test_a_late_end_finds_its_transaction_over_and_changes_nothing(
    host: FakeTransactionHost, committed: bool
) -> None:
    owner = begun(host, version=2)
    host.end(owner, committed, version=2)
    assert host.end(owner, committed, version=2).code is ErrorCode.CONCURRENT_TRANSACTIONS
    host.write_markers()
    repeat = host.end(owner, committed, version=2).response
    assert (repeat.producer_id, repeat.producer_epoch) == (owner.id, 1)
    assert host.end(owner, not committed, version=2).code is ErrorCode.INVALID_TXN_STATE
    # The next transaction has begun: a delayed end of the one before must not end it.
    host.add(bumped(owner), ORDERS, version=2)
    for late in (True, False):
        assert host.end(owner, late, version=2).code is ErrorCode.PRODUCER_FENCED
    assert host.of().state is ONGOING


def test_nothing_added_may_be_aborted_but_not_committed(host: FakeTransactionHost) -> None:
    owner = host.owner()
    assert host.end(owner, True, version=2).code is ErrorCode.INVALID_TXN_STATE
    assert host.end(owner, False, version=2).response.producer_epoch == 1
    assert host.of().state is COMPLETE_ABORT  # no markers to wait for
    owner = bumped(owner)
    assert host.end(owner, True, version=2).code is ErrorCode.INVALID_TXN_STATE
    assert host.end(owner, False, version=2).response.producer_epoch == 2


@OUTCOMES
def test_the_last_epoch_ends_with_a_new_producer_id(host: FakeTransactionHost, committed: bool) -> None:
    owner = host.at_epoch(32766)
    host.add(owner, ORDERS, version=2)
    fresh = Producer(owner.id + 1, 0)
    response = host.end(owner, committed, version=2).response
    assert Producer(response.producer_id, response.producer_epoch) == fresh
    assert host.markers[0].producer == (owner.id, 32767)
    # It may use its new id at once, and is asked to wait until the markers are written.
    assert host.add(fresh, ORDERS, version=2).code is ErrorCode.CONCURRENT_TRANSACTIONS
    host.write_markers()
    assert host.of().producer == fresh
    repeat = host.end(owner, committed, version=2).response
    assert Producer(repeat.producer_id, repeat.producer_epoch) == fresh
    assert host.add(fresh, ORDERS, version=2).response is ErrorCode.NONE


def test_after_an_end_the_owner_may_introduce_itself_with_either_epoch(host: FakeTransactionHost) -> None:
    owner = begun(host, version=2)
    host.end(owner, True, version=2)
    host.write_markers()
    response = host.init(expected=owner).response  # the answer of EndTxn was lost
    assert (response.error_code, response.producer_epoch) == (0, 1)


# --- crashes -----------------------------------------------------------------------------------------------


@OUTCOMES
@pytest.mark.parametrize("version", [0, 2])
def test_what_was_decided_before_a_crash_is_finished_after_it(committed: bool, version: int) -> None:
    host = FakeTransactionHost()
    owner = begun(host, version)
    host.end(owner, committed, version=version)
    before = host.markers[0]
    host.crash()
    (markers,) = host.markers
    assert (markers.producer, markers.committed, set(markers.partitions)) == (
        before.producer,
        committed,
        {ORDERS, PAYMENTS},
    )
    assert markers.coordinator_epoch == before.coordinator_epoch + 1
    host.write_markers()
    assert host.of().state is (COMPLETE_COMMIT if committed else COMPLETE_ABORT)
    assert host.end(owner, committed, version=version).response.error_code == 0


def test_an_open_transaction_survives_a_crash(host: FakeTransactionHost) -> None:
    owner = begun(host)
    host.crash()
    assert host.markers == []
    assert host.end(owner, True).response.error_code == 0


def test_a_decision_that_cannot_be_written_is_not_made(host: FakeTransactionHost) -> None:
    owner = begun(host)
    host.refuse_next = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert host.end(owner, True).code is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert host.markers == []
    assert host.end(owner, False).response.error_code == 0


def test_completion_that_cannot_be_written_is_tried_again(host: FakeTransactionHost) -> None:
    owner = begun(host)
    host.end(owner, True)
    host.refuse_next = ErrorCode.COORDINATOR_NOT_AVAILABLE
    host.write_markers()
    assert host.of().state is PREPARE_COMMIT
    host.pass_ms(1_000)
    assert host.of().state is COMPLETE_COMMIT


# --- records -----------------------------------------------------------------------------------------------


def test_a_record_holds_all_that_a_transaction_is(host: FakeTransactionHost) -> None:
    owner = begun(host, version=2)
    host.end(owner, True, version=2)
    host.write_markers()
    for entry, _ in host.log:
        key, value = encode_entry(*entry)
        assert decode_entry("__transaction_state", key, value) == (entry.key, entry.value)
    states = [getattr(entry.value, "transaction_status", None) for entry, _ in host.log]
    assert states == [0, 1, 2, 4]
