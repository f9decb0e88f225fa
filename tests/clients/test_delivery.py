"""At most once, at least once, exactly once: what our own consumer promises when its process dies."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from tests.support.members.filling import fill
from tests.support.ready import create_ready_topic
from tests.support.waiting import when_markers_are_there

from barnabas import Consumer, Producer
from barnabas.client import FencedError, TransactionError
from barnabas.client.delivery import Guarantee
from barnabas.testing import BrokerProcess

RECORDS = 20
DIES_AT = 7
NEVER = -1

# Static membership: the process that comes back has its partitions at once.
READ = """
import os, sys
from barnabas import Consumer
servers, topic, group, delivery, last, dies_at = sys.argv[1:]
consumer = Consumer(servers, topic, group=group, delivery=delivery, start="earliest",
                    group_instance_id="one", auto_commit_interval_ms=50)
for record in consumer:
    print(int(record.value), flush=True)
    if int(record.value) == int(dies_at):
        os._exit(9)
    if int(record.value) == int(last):
        break
consumer.close()
"""

TRANSFORM = """
import os, sys
from barnabas import Consumer, Producer
servers, topic, group, target, last, dies_at = sys.argv[1:]
producer = Producer(servers, transactional_id=group)
consumer = Consumer(servers, topic, group=group, delivery="exactly-once", start="earliest",
                    group_instance_id="one")
for batch in consumer.batches(max_records=5):
    with producer.transaction(consumer):
        for record in batch:
            producer.send(target, record.value)
            if int(record.value) == int(dies_at):
                producer.flush()
                os._exit(9)
    if int(batch[-1].value) == int(last):
        break
"""


def run(program: str, *words: str, last: int = RECORDS - 1, dies_at: int = NEVER) -> list[int]:
    command = [sys.executable, "-W", "error", "-c", program, *words, str(last), str(dies_at)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == (0 if dies_at == NEVER else 9), done.stderr
    return [int(line) for line in done.stdout.splitlines()]


def committed_values(broker: BrokerProcess, topic: str, count: int) -> list[int]:
    def read() -> list[int]:
        reader = Consumer(
            broker.bootstrap, topic, start="earliest", until_end=True, isolation_level="read_committed"
        )
        return [int(record.value) for record in reader]

    return when_markers_are_there(read, count)


@pytest.fixture
def filled(coordinator: BrokerProcess, topic: str) -> str:
    create_ready_topic(coordinator, topic)
    fill(coordinator, topic, partitions=1, count=RECORDS)
    return topic


def test_at_most_once_skips_what_a_crash_interrupted_and_repeats_nothing(
    coordinator: BrokerProcess, filled: str, group: str
) -> None:
    words = (coordinator.bootstrap, filled, group, "at-most-once")
    first = run(READ, *words, dies_at=DIES_AT)
    total = fill(coordinator, filled, partitions=1, count=5, start=RECORDS)
    second = run(READ, *words, last=total - 1)
    assert first == list(range(DIES_AT + 1))
    assert set(first) & set(second) == set()
    assert second == list(range(total))[total - len(second) :]


def test_at_least_once_repeats_what_a_crash_interrupted_and_skips_nothing(
    coordinator: BrokerProcess, filled: str, group: str
) -> None:
    words = (coordinator.bootstrap, filled, group, "at-least-once")
    first = run(READ, *words, dies_at=DIES_AT)
    second = run(READ, *words)
    assert set(first) | set(second) == set(range(RECORDS))
    assert DIES_AT in second, "it was not processed to its end"


def test_exactly_once_leaves_every_record_in_the_output_once(
    coordinator: BrokerProcess, filled: str, group: str
) -> None:
    target = f"{filled}-target"
    create_ready_topic(coordinator, target)
    words = (coordinator.bootstrap, filled, group, target)
    run(TRANSFORM, *words, dies_at=DIES_AT)
    run(TRANSFORM, *words)
    assert committed_values(coordinator, target, RECORDS) == list(range(RECORDS))


def test_a_polite_end_loses_nothing_at_most_once(coordinator: BrokerProcess, filled: str, group: str) -> None:
    seen: list[int] = []
    while len(seen) < RECORDS:
        with Consumer(
            coordinator.bootstrap, filled, group=group, delivery="at-most-once", start="earliest"
        ) as consumer:
            for record in consumer:
                seen.append(int(record.value))
                if len(seen) in {DIES_AT, RECORDS}:
                    break
    assert seen == list(range(RECORDS))


def test_an_exception_in_the_block_aborts_and_the_records_come_again(
    coordinator: BrokerProcess, filled: str, group: str
) -> None:
    target = f"{filled}-target"
    create_ready_topic(coordinator, target)
    tries: Counter[int] = Counter()
    with (
        Producer(coordinator.bootstrap, transactional_id=group) as producer,
        Consumer(
            coordinator.bootstrap,
            filled,
            group=group,
            delivery="exactly-once",
            start="earliest",
        ) as consumer,
    ):
        for batch in consumer.batches(max_records=6):
            try:
                with producer.transaction(consumer):
                    for record in batch:
                        producer.send(target, record.value)
                        tries[int(record.value)] += 1
                        if int(record.value) == DIES_AT and tries[DIES_AT] == 1:
                            raise RuntimeError("a mishap")
            except RuntimeError:
                continue
            if int(batch[-1].value) == RECORDS - 1:
                break
    assert tries[DIES_AT] == 2
    assert committed_values(coordinator, target, RECORDS) == list(range(RECORDS))


@pytest.mark.parametrize("delivery", ["at-most-once", "at-least-once", "exactly-once"])
def test_a_record_that_cannot_be_decoded_costs_no_other_record(
    coordinator: BrokerProcess, filled: str, group: str, delivery: Guarantee
) -> None:
    def decode(value: bytes) -> int:
        if value == b"%d" % DIES_AT:
            raise UnicodeError("a bad one")
        return int(value)

    seen: list[int] = []
    refused = 0
    with Consumer(
        coordinator.bootstrap,
        filled,
        group=group,
        delivery=delivery,
        start="earliest",
        value_deserialiser=decode,
    ) as consumer:
        while RECORDS - 1 not in seen:
            try:
                seen += [record.value for record in consumer.poll_batch()]
            except UnicodeError:
                refused += 1
    assert (refused, seen) == (1, [number for number in range(RECORDS) if number != DIES_AT])


def test_a_producer_that_was_replaced_is_fenced(coordinator: BrokerProcess, filled: str, group: str) -> None:
    zombie = Producer(coordinator.bootstrap, transactional_id=group)
    successor = Producer(coordinator.bootstrap, transactional_id=group)
    with pytest.raises(FencedError), zombie.transaction():
        zombie.send(filled, "late")
    with successor.transaction():
        successor.send(filled, str(RECORDS))
    assert committed_values(coordinator, filled, RECORDS + 1) == list(range(RECORDS + 1))


def test_a_record_the_broker_refuses_aborts_its_transaction(
    coordinator: BrokerProcess, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic, configs={"max.message.bytes": "1000"})
    producer = Producer(coordinator.bootstrap, transactional_id=group)

    def send_both() -> None:
        with producer.transaction():
            producer.send(topic, "1").result()
            producer.send(topic, "x" * 5_000)

    with pytest.raises(TransactionError) as refused:
        send_both()
    assert "large" in str(refused.value).lower()
    producer.close()
    with Producer(coordinator.bootstrap, transactional_id=group) as second, second.transaction():
        second.send(topic, "2")
    assert committed_values(coordinator, topic, 1) == [2]


def test_what_makes_no_sense_is_refused(coordinator: BrokerProcess, filled: str, group: str) -> None:
    servers = coordinator.bootstrap
    with pytest.raises(ValueError, match="needs group="):
        Consumer(servers, filled, delivery="exactly-once")
    with pytest.raises(ValueError, match="at-most-once, at-least-once, exactly-once"):
        Consumer(servers, filled, group=group, delivery="twice")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="transactional_id"), Producer(servers).transaction():
        pass
    producer = Producer(servers, transactional_id=group)
    with (
        Consumer(servers, filled, group=group) as consumer,
        pytest.raises(ValueError, match="exactly-once"),
        producer.transaction(consumer),
    ):
        pass
