"""Fetches that wait, fetches that are limited, and many clients at once."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.batches import Batch, split_batches
from tests.support.client import Outgoing
from tests.support.confluent_client import ConfluentClient
from tests.support.requests import api_versions_request, fetch_request, partition_of, produce_request
from tests.support.wire import Connection

from barnabas.testing import BrokerProcess

OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC = 1, 3
PATIENCE_MS = 50_000


def _produce(port: int, topic: str, batch: Batch, partition: int = 0) -> int:
    with Connection(port) as connection:
        answer = partition_of(connection.ask(produce_request(topic, batch.encode(), partition=partition)))
    assert answer.error_code == 0
    return int(answer.base_offset)


def test_a_parked_fetch_wakes_when_a_record_arrives(target: BrokerProcess, existing_topic: str) -> None:
    with Connection(target.port) as reader:
        started_at = time.monotonic()
        reader.send_request(fetch_request(existing_topic, 0, max_wait_ms=PATIENCE_MS))
        time.sleep(0.1)
        _produce(target.port, existing_topic, Batch(values=[b"wake up"]))
        _, response = reader.receive_response(type(fetch_request(existing_topic, 0)))
        assert b"wake up" in partition_of(response).records
        assert time.monotonic() - started_at < PATIENCE_MS / 1000, "it waited for its time-out instead"


def test_a_parked_fetch_gives_up_after_its_wait(target: BrokerProcess, existing_topic: str) -> None:
    with Connection(target.port) as reader:
        started_at = time.monotonic()
        answer = partition_of(reader.ask(fetch_request(existing_topic, 0, max_wait_ms=300)))
        assert time.monotonic() - started_at >= 0.29
        assert (answer.error_code, answer.records or b"") == (0, b"")


def test_a_fetch_waits_for_its_minimum_of_bytes(target: BrokerProcess, existing_topic: str) -> None:
    batch = Batch(values=[b"x" * 400])
    with Connection(target.port) as reader:
        reader.send_request(fetch_request(existing_topic, 0, max_wait_ms=PATIENCE_MS, min_bytes=1_000))
        for _ in range(3):
            _produce(target.port, existing_topic, batch)
        _, response = reader.receive_response(type(fetch_request(existing_topic, 0)))
        assert len(partition_of(response).records) >= 1_000


def test_a_parked_fetch_is_not_overtaken_by_a_later_request(
    target: BrokerProcess, existing_topic: str
) -> None:
    with Connection(target.port) as connection:
        fetch_id = connection.send_request(fetch_request(existing_topic, 0, max_wait_ms=400))
        versions_id = connection.send_request(api_versions_request())
        first_id, _ = connection.receive_response(type(fetch_request(existing_topic, 0)))
        second_id, _ = connection.receive_response(type(api_versions_request()))
        assert (first_id, second_id) == (fetch_id, versions_id)


def test_replies_keep_the_order_of_pipelined_requests(target: BrokerProcess, existing_topic: str) -> None:
    with Connection(target.port) as connection:
        sent = [
            connection.send_request(produce_request(existing_topic, Batch(values=[b"%d" % n]).encode()))
            for n in range(50)
        ]
        answers = [connection.receive_response(type(produce_request(existing_topic, b""))) for _ in sent]
    assert [correlation_id for correlation_id, _ in answers] == sent
    assert [partition_of(response).base_offset for _, response in answers] == list(range(50))


def test_the_partition_limit_cuts_after_whole_bytes_and_keeps_the_first_batch(
    target: BrokerProcess, existing_topic: str
) -> None:
    batch = Batch(values=[b"x" * 1_000])
    size = len(batch.encode())
    for _ in range(4):
        _produce(target.port, existing_topic, batch)
    with Connection(target.port) as reader:
        for limit, expected_batches in ((1, 1), (size, 1), (size + 10, 1), (2 * size, 2), (3 * size + 1, 3)):
            request = fetch_request(existing_topic, 0, partition_max_bytes=limit)
            records = partition_of(reader.ask(request)).records
            assert len(split_batches(records)) == expected_batches, f"limit {limit}"
            assert len(records) <= max(limit, size), f"limit {limit}"


def test_the_request_limit_bounds_the_answer_but_returns_a_first_batch(
    target: BrokerProcess, existing_topic: str
) -> None:
    batch = Batch(values=[b"x" * 1_000])
    size = len(batch.encode())
    for _ in range(4):
        _produce(target.port, existing_topic, batch)
    with Connection(target.port) as reader:
        for limit, expected_batches in ((0, 1), (1, 1), (2 * size, 2)):
            records = partition_of(reader.ask(fetch_request(existing_topic, 0, max_bytes=limit))).records
            assert len(split_batches(records)) == expected_batches, f"limit {limit}"


@pytest.mark.parametrize(
    ("offset", "partition", "code"),
    [(1, 0, OFFSET_OUT_OF_RANGE), (-1, 0, OFFSET_OUT_OF_RANGE), (0, 9, UNKNOWN_TOPIC)],
)
def test_a_fetch_from_nowhere_has_kafkas_error(
    target: BrokerProcess, existing_topic: str, offset: int, partition: int, code: int
) -> None:
    with Connection(target.port) as reader:
        answer = partition_of(reader.ask(fetch_request(existing_topic, offset, partition=partition)))
    assert (answer.error_code, answer.high_watermark, answer.records or b"") == (code, -1, b"")


def test_two_hundred_connections_produce_at_once_and_every_record_has_its_own_offset(
    target: BrokerProcess, existing_topic: str
) -> None:
    connections = [Connection(target.port) for _ in range(200)]
    try:
        for number, connection in enumerate(connections):
            connection.send_request(produce_request(existing_topic, Batch(values=[b"%d" % number]).encode()))
        kind = type(produce_request(existing_topic, b""))
        offsets = [
            partition_of(connection.receive_response(kind)[1]).base_offset for connection in connections
        ]
    finally:
        for connection in connections:
            connection.close()
    assert sorted(offsets) == list(range(200))


def test_consumers_and_producers_of_many_threads_do_not_disturb_each_other(
    target: BrokerProcess, existing_topic: str
) -> None:
    def work(number: int) -> list[int]:
        client = ConfluentClient(target.bootstrap)
        return client.produce(existing_topic, [Outgoing(b"%d" % number)] * 100, acks="1")

    with ThreadPoolExecutor(8) as threads:
        offsets = [offset for produced in threads.map(work, range(8)) for offset in produced]
    assert sorted(offsets) == list(range(800))
    values = [message.value for message in ConfluentClient(target.bootstrap).read(existing_topic, 0, 0, 800)]
    assert sorted(values, key=str) == sorted((b"%d" % n for n in range(8) for _ in range(100)), key=str)
