"""One owner per transactional id: InitProducerId, its epochs, its fences, its repeats."""

from __future__ import annotations

import pytest
from tests.support.transactions import ORDERS, FakeTransactionHost

from barnabas.coordination.outcome import Producer
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.init_producer_id import InitProducerIdResponse
from barnabas.transactions.states import COMPLETE_ABORT, EMPTY, PREPARE_ABORT


@pytest.fixture
def host() -> FakeTransactionHost:
    return FakeTransactionHost({"transaction.max.timeout.ms": "100000"})


def producer_of(response: InitProducerIdResponse) -> Producer:
    assert response.error_code == 0
    return Producer(response.producer_id, response.producer_epoch)


def test_the_first_owner_gets_a_fresh_id_and_epoch_0(host: FakeTransactionHost) -> None:
    assert host.owner("a") == (1001, 0)
    assert host.owner("b") == (1002, 0)
    assert host.of("a").state is EMPTY


def test_the_next_owner_has_the_same_id_and_a_higher_epoch(host: FakeTransactionHost) -> None:
    assert [host.owner().epoch for _ in range(3)] == [0, 1, 2]


@pytest.mark.parametrize("timeout_ms", [0, -1, 100_001])
def test_a_timeout_beyond_the_brokers_maximum_is_refused(host: FakeTransactionHost, timeout_ms: int) -> None:
    assert host.init(timeout_ms=timeout_ms).code is ErrorCode.INVALID_TRANSACTION_TIMEOUT
    assert host.init(timeout_ms=100_000).code is None


def test_an_owner_that_says_who_it_is_goes_on_with_the_next_epoch(host: FakeTransactionHost) -> None:
    owner = host.owner()
    assert producer_of(host.init(expected=owner).response) == (owner.id, 1)


def test_a_lost_answer_is_repeated_and_costs_no_epoch(host: FakeTransactionHost) -> None:
    owner = host.owner()
    first = producer_of(host.init(expected=owner).response)
    assert producer_of(host.init(expected=owner).response) == first


def test_an_old_owner_that_says_who_it_is_stays_fenced(host: FakeTransactionHost) -> None:
    old = host.owner()
    host.owner()
    assert host.init(expected=old).code is ErrorCode.PRODUCER_FENCED
    assert host.init(expected=Producer(77, 0)).code is ErrorCode.PRODUCER_FENCED


def test_epochs_that_run_out_bring_a_new_producer_id(host: FakeTransactionHost) -> None:
    last = host.at_epoch(32766)
    fresh = producer_of(host.init(expected=last).response)
    assert fresh == (last.id + 1, 0)
    assert host.of().previous_producer_id == last.id
    # The answer was lost: the old id is good for asking again, and for nothing else.
    assert producer_of(host.init(expected=last).response) == fresh
    assert host.init(expected=Producer(last.id, 5)).code is ErrorCode.PRODUCER_FENCED


@pytest.mark.parametrize("version", [0, 1, 2])
def test_an_open_transaction_is_aborted_before_another_may_own_the_id(version: int) -> None:
    host = FakeTransactionHost(version=version)
    old = host.owner()
    host.add(old, ORDERS)
    asked = host.init()
    assert asked.response.error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert host.of().state is PREPARE_ABORT
    (markers,) = host.markers
    assert (markers.producer, markers.committed, set(markers.partitions)) == ((old.id, 1), False, {ORDERS})
    assert host.init().code is ErrorCode.CONCURRENT_TRANSACTIONS
    host.write_markers()
    assert host.of().state is COMPLETE_ABORT
    assert host.owner() == (old.id, 2)
    assert host.add(old, ORDERS).code is ErrorCode.PRODUCER_FENCED
    assert host.end(old, True).code is ErrorCode.PRODUCER_FENCED


def test_a_fence_that_takes_the_last_epoch_leaves_a_new_id(host: FakeTransactionHost) -> None:
    last = host.at_epoch(32766)
    host.add(last, ORDERS)
    host.init()
    assert host.markers[0].producer == (last.id, 32767)
    host.write_markers()
    assert host.of().producer == (last.id + 1, 0)


def test_while_a_producer_id_is_on_its_way_the_id_is_busy_and_nobody_waits_forever(
    host: FakeTransactionHost,
) -> None:
    host.ids_come_later = True
    first = host.init()
    assert not first.done
    assert host.init().code is ErrorCode.CONCURRENT_TRANSACTIONS
    host.waiting_for_id.pop()(42)
    assert producer_of(first.response) == (42, 0)

    refused = host.init("b")
    host.waiting_for_id.pop()(None)
    assert refused.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    abandoned = host.init("c")
    host.transactions.unloaded()
    assert abandoned.code is ErrorCode.NOT_COORDINATOR
    host.waiting_for_id.pop()(43)
    assert "c" not in host.transactions.transactions


def test_an_append_that_fails_changes_nothing(host: FakeTransactionHost) -> None:
    owner = host.owner()
    host.refuse_next = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert host.init(expected=owner).code is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert host.of().producer == owner
    assert producer_of(host.init(expected=owner).response) == (owner.id, 1)


def test_a_crash_keeps_the_owner(host: FakeTransactionHost) -> None:
    owner = host.owner()
    host.crash()
    assert host.of().producer == owner
    assert host.owner() == (owner.id, 1)
