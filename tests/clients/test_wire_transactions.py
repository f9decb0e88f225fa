"""A transaction by hand, as Spark's tasks and driver share one: begun here, joined there, ended once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError
from tests.support.waiting import eventually, when_markers_are_there

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.produce import ProduceRequest
from barnabas.records.build import build_batch
from barnabas.records.walk import Record
from barnabas.testing import BrokerProcess
from barnabas.wire import Cluster, TimedOutError
from barnabas.wire.admin import topics
from barnabas.wire.producing import Appender, Batch, NotAppendedError
from barnabas.wire.transactions import (
    LedgerRow,
    Producer,
    Transactions,
    idempotent_producer,
    stable_offsets,
)

TIMEOUT_MS = 30_000


@pytest.fixture
def cluster(target: BrokerProcess) -> Iterator[Cluster]:
    with Cluster.connect(target.bootstrap, {"retry.backoff.ms": "20"}) as connected:
        yield connected


@pytest.fixture
def partition(cluster: Cluster, topic: str) -> TopicPartition:
    topics.create(cluster, topic, 2, 1)
    return TopicPartition(topic, 1)


def batch(producer: Producer, sequence: int, values: list[bytes]) -> Batch:
    now_ms = int(time.time() * 1000)
    sealed = build_batch(
        [Record(index, now_ms, None, value, ()) for index, value in enumerate(values)],
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        base_sequence=sequence,
        transactional=producer.transactional_id is not None,
    )
    return Batch(sealed, len(values))


def committed_values(bootstrap: str, partition: TopicPartition, count: int) -> list[bytes | None]:
    return when_markers_are_there(lambda: _visible_values(bootstrap, partition), count)


def _visible_values(bootstrap: str, partition: TopicPartition) -> list[bytes | None]:
    """Under read_committed, up to the end at the time of asking."""
    from confluent_kafka import TopicPartition as Assigned

    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([Assigned(partition.topic, partition.partition, 0)])
    values: list[bytes | None] = []
    while True:
        message = consumer.poll(60)
        assert message is not None
        error = message.error()
        if error is None:
            values.append(message.value())
        elif error.code() == KafkaError._PARTITION_EOF:
            consumer.close()
            return values


def test_what_is_committed_is_read_and_what_is_aborted_is_not(
    cluster: Cluster, target: BrokerProcess, partition: TopicPartition
) -> None:
    mine = Transactions(cluster, f"id-{partition.topic}")
    for value, commit in ((b"one", True), (b"two", False), (b"three", True)):
        producer = mine.take(TIMEOUT_MS)
        mine.add(producer, [partition])
        Appender(cluster, producer.transactional_id).append({partition: batch(producer, 0, [value])})
        mine.end(producer, commit=commit)
    mine.take(TIMEOUT_MS)
    assert committed_values(target.bootstrap, partition, 2) == [b"one", b"three"]


def test_offsets_of_the_ledger_become_visible_with_the_commit_only(
    cluster: Cluster, partition: TopicPartition
) -> None:
    group_id = f"ledger-{partition.topic}"
    mine = Transactions(cluster, f"id-{partition.topic}")
    producer = mine.take(TIMEOUT_MS)
    mine.commit_offset(producer, group_id, partition, LedgerRow(1, "query"))
    mine.end(producer, commit=True)
    # Whoever asks for all offsets of a group does not hear of a first one whose marker is still on its way.
    eventually(lambda: stable_offsets(cluster, group_id) == {partition: LedgerRow(1, "query")})
    producer = mine.take(TIMEOUT_MS)
    mine.commit_offset(producer, group_id, partition, LedgerRow(2, "query"))
    mine.take(TIMEOUT_MS)
    assert stable_offsets(cluster, group_id) == {partition: LedgerRow(1, "query")}


def test_taking_the_id_aborts_what_was_open_and_fences_late_writes(
    cluster: Cluster, target: BrokerProcess, partition: TopicPartition
) -> None:
    mine = Transactions(cluster, f"id-{partition.topic}")
    zombie = mine.take(TIMEOUT_MS)
    mine.add(zombie, [partition])
    appender = Appender(cluster, zombie.transactional_id)
    appender.append({partition: batch(zombie, 0, [b"early"])})
    producer = mine.take(TIMEOUT_MS)
    with pytest.raises(ApiError) as late:
        appender.append({partition: batch(zombie, 1, [b"late"])})
    assert late.value.code in (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED)
    with pytest.raises(ApiError):
        mine.end(zombie, commit=True)
    mine.add(producer, [partition])
    Appender(cluster, producer.transactional_id).append({partition: batch(producer, 0, [b"right"])})
    mine.end(producer, commit=True)
    assert committed_values(target.bootstrap, partition, 1) == [b"right"]


def test_a_repeated_end_is_the_same_end(
    target: BrokerProcess, cluster: Cluster, partition: TopicPartition
) -> None:
    mine = Transactions(cluster, f"id-{partition.topic}")
    producer = mine.take(TIMEOUT_MS)
    mine.add(producer, [partition])
    Appender(cluster, producer.transactional_id).append({partition: batch(producer, 0, [b"once"])})
    mine.end(producer, commit=True)
    mine.end(producer, commit=True)
    with pytest.raises(ApiError):
        mine.end(producer, commit=False)
    assert committed_values(target.bootstrap, partition, 1) == [b"once"]


def test_one_request_carries_batches_of_several_partitions(
    cluster: Cluster, partition: TopicPartition
) -> None:
    producer = idempotent_producer(cluster)
    other = TopicPartition(partition.topic, 0)
    appender = Appender(cluster)
    first = appender.append({partition: batch(producer, 0, [b"a", b"b"]), other: batch(producer, 0, [b"c"])})
    second = appender.append({partition: batch(producer, 2, [b"d"])})
    assert first == {partition: 0, other: 0}
    assert second == {partition: 2}


def test_a_batch_taken_for_an_earlier_one_is_an_error_and_no_success(
    cluster: Cluster, partition: TopicPartition
) -> None:
    producer = idempotent_producer(cluster)
    appender = Appender(cluster)
    appender.append({partition: batch(producer, 0, [b"a", b"b"])})
    with pytest.raises(NotAppendedError, match="not beyond 1"):
        appender.append({partition: batch(producer, 0, [b"c", b"d"])})


def test_a_batch_far_behind_is_refused(cluster: Cluster, partition: TopicPartition) -> None:
    producer = idempotent_producer(cluster)
    appender = Appender(cluster)
    for sequence in range(8):
        appender.append({partition: batch(producer, sequence, [b"a"])})
    with pytest.raises(NotAppendedError):
        Appender(cluster).append({partition: batch(producer, 0, [b"a"])})


def test_a_writer_that_knows_the_log_s_end_sees_that_another_one_was_there_before(
    cluster: Cluster, partition: TopicPartition
) -> None:
    producer = idempotent_producer(cluster)
    Appender(cluster).append({partition: batch(producer, 0, [b"a", b"b"])})
    second = Appender(cluster)
    second.expect_beyond(partition, 1)
    with pytest.raises(NotAppendedError, match="offset 0, which is not beyond 1"):
        second.append({partition: batch(producer, 0, [b"c", b"d"])})


def test_a_batch_sent_again_because_its_answer_was_lost_is_there_once(
    cluster: Cluster, target: BrokerProcess, partition: TopicPartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer = idempotent_producer(cluster)
    appender = Appender(cluster)
    appender.append({partition: batch(producer, 0, [b"a"])})
    call = cluster.call_once
    lost: list[Any] = []

    def call_and_lose_the_answer(request: Any, *arguments: Any, **named: Any) -> Any:
        answer = call(request, *arguments, **named)
        if isinstance(request, ProduceRequest) and not lost:
            lost.append(answer)
            raise TimedOutError("no answer")
        return answer

    monkeypatch.setattr(cluster, "call_once", call_and_lose_the_answer)
    assert appender.append({partition: batch(producer, 1, [b"b", b"c"])}) == {partition: 1}
    assert lost
    assert committed_values(target.bootstrap, partition, 3) == [b"a", b"b", b"c"]
