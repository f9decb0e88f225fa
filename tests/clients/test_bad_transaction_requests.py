"""Requests to a transaction coordinator that no library would send, and those that come too late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.cli.processes import tool
from tests.conftest import StartTarget
from tests.support.batches import Batch
from tests.support.group_requests import (
    add_offsets_request,
    add_partitions_request,
    await_coordinators,
    commit_codes,
    end_request,
    init_transactions_request,
    join_alone,
    txn_commit_request,
)
from tests.support.ready import create_ready_topic
from tests.support.requests import partition_of, produce_request
from tests.support.transactional.kafka_python_producer import KafkaPythonTransactionAdmin
from tests.support.waiting import eventually
from tests.support.wire import Connection

from barnabas.testing import BrokerProcess

UNKNOWN_TOPIC_OR_PARTITION, ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, INVALID_REQUEST = 3, 22, 25, 42
INVALID_PRODUCER_EPOCH, INVALID_TXN_STATE, INVALID_PRODUCER_ID_MAPPING = 47, 48, 49
INVALID_TRANSACTION_TIMEOUT, OPERATION_NOT_ATTEMPTED, PRODUCER_FENCED = 50, 55, 90
TRANSACTIONAL = 0b10000
LONG_AGO_MS = 1_600_000_000_000


@pytest.fixture
def raw(coordinator: BrokerProcess, topic: str, group: str) -> Iterator[Connection]:
    create_ready_topic(coordinator, topic)
    with Connection(coordinator.port) as connection:
        await_coordinators(connection, group)
        yield connection


def added(answer: Any) -> list[int]:
    topics = answer.results_by_topic_v3_and_below
    return [row.partition_error_code for topic in topics for row in topic.results_by_partition]


def test_a_timeout_above_the_broker_s_maximum_is_refused(raw: Connection, group: str) -> None:
    assert raw.ask(init_transactions_request(group, timeout_ms=900_000)).error_code == 0
    for timeout_ms in (900_001, 0, -1):
        answer = raw.ask(init_transactions_request(group, timeout_ms=timeout_ms))
        assert answer.error_code == INVALID_TRANSACTION_TIMEOUT
    assert raw.ask(init_transactions_request("")).error_code == INVALID_REQUEST


def test_a_producer_that_did_not_take_the_id_is_refused(raw: Connection, topic: str, group: str) -> None:
    place = (topic, 0)
    assert added(raw.ask(add_partitions_request(group, 1, 0, place))) == [INVALID_PRODUCER_ID_MAPPING]
    mine = raw.ask(init_transactions_request(group))
    stranger = mine.producer_id + 1_000
    assert added(raw.ask(add_partitions_request(group, stranger, 0, place))) == [INVALID_PRODUCER_ID_MAPPING]
    ended = raw.ask(end_request(group, stranger, 0, commit=True))
    assert ended.error_code == INVALID_PRODUCER_ID_MAPPING
    offsets = raw.ask(add_offsets_request(group, stranger, 0, group))
    assert offsets.error_code == INVALID_PRODUCER_ID_MAPPING


def test_ending_what_was_not_begun_is_refused_and_ending_twice_is_one_end(
    raw: Connection, topic: str, group: str
) -> None:
    mine = raw.ask(init_transactions_request(group))
    identity = (group, mine.producer_id, mine.producer_epoch)
    assert raw.ask(end_request(*identity, commit=True)).error_code == INVALID_TXN_STATE
    assert added(raw.ask(add_partitions_request(*identity, (topic, 0)))) == [0]
    commit = end_request(*identity, commit=True)
    assert raw.ask(commit).error_code == 0
    eventually(lambda: raw.ask(commit).error_code == 0)
    eventually(lambda: raw.ask(end_request(*identity, commit=False)).error_code == INVALID_TXN_STATE)


def test_an_older_epoch_is_fenced_wherever_it_comes(raw: Connection, topic: str, group: str) -> None:
    old = raw.ask(init_transactions_request(group))
    new = raw.ask(init_transactions_request(group))
    assert (new.producer_id, new.producer_epoch) == (old.producer_id, old.producer_epoch + 1)
    zombie = (group, old.producer_id, old.producer_epoch)
    assert added(raw.ask(add_partitions_request(*zombie, (topic, 0)))) == [PRODUCER_FENCED]
    assert raw.ask(end_request(*zombie, commit=True)).error_code == PRODUCER_FENCED
    assert raw.ask(add_offsets_request(*zombie, group)).error_code == PRODUCER_FENCED
    successor = (group, new.producer_id, new.producer_epoch)
    assert added(raw.ask(add_partitions_request(*successor, (topic, 0)))) == [0]
    batch = Batch(attributes=TRANSACTIONAL, producer_id=new.producer_id, base_sequence=0)
    right = _with_epoch(batch, new.producer_epoch)
    assert partition_of(raw.ask(_produce(topic, right, group))).error_code == 0
    late = _with_epoch(batch, old.producer_epoch)
    assert partition_of(raw.ask(_produce(topic, late, group))).error_code == INVALID_PRODUCER_EPOCH


def test_one_unknown_partition_keeps_the_others_out_of_the_transaction(
    raw: Connection, topic: str, group: str
) -> None:
    mine = raw.ask(init_transactions_request(group))
    places = ((f"{topic}-no", 0), (topic, 0))
    answer = raw.ask(add_partitions_request(group, mine.producer_id, mine.producer_epoch, *places))
    assert sorted(added(answer)) == [UNKNOWN_TOPIC_OR_PARTITION, OPERATION_NOT_ATTEMPTED]


def test_records_of_a_transaction_that_was_not_begun_are_refused(
    raw: Connection, topic: str, group: str
) -> None:
    mine = raw.ask(init_transactions_request(group))
    batch = Batch(
        attributes=TRANSACTIONAL,
        producer_id=mine.producer_id,
        producer_epoch=mine.producer_epoch,
        base_sequence=0,
    )
    answer = raw.ask(_produce(topic, batch, group))
    assert partition_of(answer).error_code == INVALID_TXN_STATE


def test_a_delayed_record_after_the_end_changes_nothing(raw: Connection, topic: str, group: str) -> None:
    mine = raw.ask(init_transactions_request(group))
    identity = (group, mine.producer_id, mine.producer_epoch)
    assert added(raw.ask(add_partitions_request(*identity, (topic, 0)))) == [0]
    batch = Batch(
        attributes=TRANSACTIONAL,
        producer_id=mine.producer_id,
        producer_epoch=mine.producer_epoch,
        base_sequence=0,
    )
    assert partition_of(raw.ask(_produce(topic, batch, group))).error_code == 0
    assert raw.ask(end_request(*identity, commit=True)).error_code == 0
    eventually(lambda: raw.ask(end_request(*identity, commit=True)).error_code == 0)
    delayed = Batch(
        attributes=TRANSACTIONAL,
        producer_id=mine.producer_id,
        producer_epoch=mine.producer_epoch,
        base_sequence=1,
    )
    assert partition_of(raw.ask(_produce(topic, delayed, group))).error_code == INVALID_TXN_STATE


def test_offsets_in_a_transaction_are_checked_against_the_group(
    raw: Connection, topic: str, group: str
) -> None:
    mine = raw.ask(init_transactions_request(group))
    identity = (group, mine.producer_id, mine.producer_epoch)
    joined = join_alone(raw, group)
    assert raw.ask(add_offsets_request(*identity, group)).error_code == 0

    def codes(generation: int, member: str) -> list[int]:
        request = txn_commit_request(
            group,
            group,
            mine.producer_id,
            mine.producer_epoch,
            (topic, 0),
            generation=generation,
            member=member,
        )
        return commit_codes(raw.ask(request))

    assert codes(joined.generation_id + 1, joined.member_id) == [ILLEGAL_GENERATION]
    assert codes(joined.generation_id, "nobody") == [UNKNOWN_MEMBER_ID]
    assert codes(joined.generation_id, joined.member_id) == [0]
    assert raw.ask(end_request(*identity, commit=True)).error_code == 0


@pytest.fixture
def trusting(start_target: StartTarget, topic: str, group: str) -> BrokerProcess:
    """A broker with a transaction that hangs since long ago: its records are there, and no coordinator knows
    of it. Only a broker that does not verify can get one."""
    broker = start_target(
        {"transaction.partition.verification.enable": "false", "group.initial.rebalance.delay.ms": 0}
    )
    create_ready_topic(broker, topic)
    with Connection(broker.port) as raw:
        await_coordinators(raw, group)
        mine = raw.ask(init_transactions_request(group))
        batch = Batch(
            attributes=TRANSACTIONAL,
            producer_id=mine.producer_id,
            producer_epoch=mine.producer_epoch,
            base_sequence=0,
            timestamp_ms=LONG_AGO_MS,
        )
        assert partition_of(raw.ask(_produce(topic, batch, group))).error_code == 0
    return broker


def test_a_hanging_transaction_is_seen_and_aborted(trusting: BrokerProcess, topic: str, group: str) -> None:
    admin = KafkaPythonTransactionAdmin(trusting.bootstrap)
    assert admin.describe(group).state == "Empty"
    (hanging,) = admin.producers((topic, 0))
    assert hanging.start_offset == 0
    admin.abort((topic, 0), hanging.producer_id, hanging.epoch, -1)
    (done,) = admin.producers((topic, 0))
    assert done.start_offset == -1


def test_the_tool_finds_a_hanging_transaction_and_aborts_it(trusting: BrokerProcess, topic: str) -> None:
    def transactions(*words: str) -> list[list[str]]:
        ran = tool("kafka-transactions", "--bootstrap-server", trusting.bootstrap, *words)
        assert ran.code == 0, ran.stderr
        return [line.split() for line in ran.stdout.splitlines()[1:]]

    ((name, partition, _, epoch, coordinator_epoch, start, seen_ms, _),) = transactions(
        "find-hanging", "--topic", topic
    )
    assert (name, partition, epoch, coordinator_epoch, start) == (topic, "0", "0", "-1", "0")
    assert int(seen_ms) == LONG_AGO_MS
    transactions("abort", "--topic", topic, "--partition", "0", "--start-offset", "0")
    assert transactions("find-hanging", "--topic", topic) == []


def _produce(topic: str, batch: Batch, transactional_id: str) -> Any:
    request = produce_request(topic, batch.encode(), acks=-1)
    return replace(request, transactional_id=transactional_id)


def _with_epoch(batch: Batch, epoch: int) -> Batch:
    return replace(batch, producer_epoch=epoch)
