"""What time does: open transactions run out, unused ids are forgotten, and both are answered truthfully."""

from __future__ import annotations

import pytest
from tests.support.transactions import ORDERS, FakeTransactionHost

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.list_transactions import ListTransactionsRequest
from barnabas.transactions.listing import Filter, describe, unknown_states
from barnabas.transactions.states import COMPLETE_ABORT, ONGOING, PREPARE_ABORT

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS


@pytest.fixture
def host() -> FakeTransactionHost:
    host = FakeTransactionHost({"transactional.id.expiration.ms": str(DAY_MS)})
    for outcome in host.transactions.loaded():
        host.apply(outcome)
    return host


# --- timeouts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 2])
def test_a_transaction_that_runs_out_of_time_is_aborted_and_its_owner_fenced(version: int) -> None:
    host = FakeTransactionHost(version=version)
    host.crash()
    owner = host.owner(timeout_ms=MINUTE_MS)
    host.add(owner, ORDERS)
    host.pass_ms(MINUTE_MS - 1)
    assert host.of().state is ONGOING
    host.pass_ms(10_001)
    assert host.of().state is PREPARE_ABORT
    assert host.markers[0].producer == (owner.id, owner.epoch + 1)
    host.write_markers()
    assert host.of().state is COMPLETE_ABORT
    assert host.end(owner, True).code is ErrorCode.PRODUCER_FENCED


def test_every_late_transaction_is_aborted_and_only_those(host: FakeTransactionHost) -> None:
    for number in range(5):
        host.add(host.owner(f"short-{number}", MINUTE_MS), ORDERS, name=f"short-{number}")
    host.add(host.owner("long", 10 * MINUTE_MS), ORDERS, name="long")
    host.pass_ms(MINUTE_MS + 10_001)
    assert sorted(markers.transactional_id for markers in host.markers) == [f"short-{n}" for n in range(5)]
    assert host.of("long").state is ONGOING


def test_the_end_of_a_timeout_survives_a_crash(host: FakeTransactionHost) -> None:
    host.add(host.owner(timeout_ms=MINUTE_MS), ORDERS)
    host.crash()
    host.pass_ms(MINUTE_MS + 10_001)
    assert host.of().state is PREPARE_ABORT


@pytest.mark.parametrize("crashes", [False, True])
def test_a_clock_that_was_set_back_keeps_no_transaction_open(
    host: FakeTransactionHost, crashes: bool
) -> None:
    host.add(host.owner(timeout_ms=MINUTE_MS), ORDERS)
    host.wall_ms -= DAY_MS
    if crashes:
        host.crash()
    host.pass_ms(MINUTE_MS + 20_002)
    assert host.of().state is PREPARE_ABORT


def test_a_timeout_that_cannot_be_written_is_tried_again(host: FakeTransactionHost) -> None:
    host.add(host.owner(timeout_ms=MINUTE_MS), ORDERS)
    host.refuse_next = ErrorCode.COORDINATOR_NOT_AVAILABLE
    host.pass_ms(MINUTE_MS + 10_001)
    assert host.of().state is ONGOING
    host.pass_ms(10_001)
    assert host.of().state is PREPARE_ABORT


# --- expiry ------------------------------------------------------------------------------------------------


def test_an_id_that_nobody_uses_is_forgotten_for_good(host: FakeTransactionHost) -> None:
    for number in range(3_000):
        host.owner(f"id-{number}")
    host.pass_ms(DAY_MS - 1)
    assert len(host.transactions.transactions) == 3_000
    used = host.owner("id-7")
    host.pass_ms(2 * 60 * MINUTE_MS)
    assert set(host.transactions.transactions) == {"id-7"}
    host.crash()
    assert host.of("id-7").producer == used
    assert host.owner("id-8").epoch == 0


def test_an_open_transaction_keeps_its_id(host: FakeTransactionHost) -> None:
    host.add(host.owner(timeout_ms=MINUTE_MS), ORDERS)
    host.pass_ms(3 * DAY_MS)
    assert host.of().state is PREPARE_ABORT  # its markers are not written yet


# --- what is told ------------------------------------------------------------------------------------------


def listed(host: FakeTransactionHost, **wanted: object) -> list[str]:
    request = ListTransactionsRequest(**wanted)  # type: ignore[arg-type]
    found = Filter(request, host.wall_ms).listed(host.transactions.transactions.values())
    return sorted(one.transactional_id for one in found)


def test_lists_are_filtered_by_state_producer_duration_and_pattern(host: FakeTransactionHost) -> None:
    idle = host.owner("app-idle")
    host.add(host.owner("app-open"), ORDERS, name="app-open")
    host.pass_ms(1_000)
    host.add(host.owner("other-open"), ORDERS, name="other-open")
    assert listed(host) == ["app-idle", "app-open", "other-open"]
    assert listed(host, state_filters=["Ongoing"]) == ["app-open", "other-open"]
    assert listed(host, state_filters=["Nonsense"]) == []
    assert unknown_states(["Ongoing", "Nonsense", "PrepareEpochFence"]) == ["Nonsense"]
    assert listed(host, producer_id_filters=[idle.id]) == ["app-idle"]
    assert listed(host, duration_filter=500, state_filters=["Ongoing"]) == ["app-open"]
    assert listed(host, transactional_id_pattern="app-.*") == ["app-idle", "app-open"]
    assert listed(host, transactional_id_pattern="app") == []
    with pytest.raises(ApiError) as refused:
        listed(host, transactional_id_pattern="(")
    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION


def test_a_description_names_the_partitions(host: FakeTransactionHost) -> None:
    owner = host.owner()
    host.add(owner, ORDERS)
    told = describe("t", host.transactions.transactions.get("t"))
    assert (told.transaction_state, told.producer_id, told.transaction_start_time_ms) == (
        "Ongoing",
        owner.id,
        host.wall_ms,
    )
    assert [(topic.topic, list(topic.partitions)) for topic in told.topics] == [("orders", [0])]
    assert describe("x", None).error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
