"""Transactions: all of it or nothing, seen by read_committed consumers only when it is decided."""

from __future__ import annotations

import pytest
from tests.support.client import RefusedError
from tests.support.members.face import CLASSIC, CONSUMER, Member
from tests.support.members.filling import fill, numbers, places
from tests.support.members.kinds import (
    AIOKAFKA,
    CONFLUENT,
    EVERY_KIND,
    JAVA,
    KAFKA_PYTHON,
    Kind,
    each,
    each_library,
)
from tests.support.members.making import Clients
from tests.support.ready import create_ready_topic
from tests.support.transactional.face import FENCED
from tests.support.waiting import eventually

from barnabas.testing import BrokerProcess

LIBRARIES = (CONFLUENT, KAFKA_PYTHON, AIOKAFKA, JAVA)
COMMITTED, UNCOMMITTED = "read_committed", "read_uncommitted"
INVALID_TXN_STATE = 48


def values(member: Member) -> list[bytes | None]:
    return [one.value for one in member.received()]


@each(EVERY_KIND)
def test_readers_of_committed_records_see_whole_transactions_only(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic, partitions=2)
    careful = clients.join(kind, f"{group}-careful", topic, isolation=COMMITTED)
    hasty = clients.join(kind, f"{group}-hasty", topic, isolation=UNCOMMITTED)
    producer = clients.transactional(kind.library, group)
    producer.begin()
    for partition in (0, 1):
        producer.send(topic, [b"first", b"second"], partition)
    eventually(lambda: sorted(map(str, values(hasty))) == sorted(map(str, [b"first", b"second"] * 2)))
    assert values(careful) == [], "not decided yet"
    producer.commit()
    eventually(lambda: sorted(map(str, values(careful))) == sorted(map(str, [b"first", b"second"] * 2)))
    producer.begin()
    producer.send(topic, [b"regretted"])
    producer.abort()
    producer.begin()
    producer.send(topic, [b"last"])
    producer.commit()
    eventually(lambda: values(careful)[-1:] == values(hasty)[-1:] == [b"last"])
    assert b"regretted" not in values(careful)
    assert b"regretted" in values(hasty)


@each_library(LIBRARIES)
def test_records_after_an_open_transaction_wait_for_it(
    clients: Clients, coordinator: BrokerProcess, library: str, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    producer = clients.transactional(library, group)
    producer.begin()
    producer.send(topic, [b"open"])
    fill(coordinator, topic, partitions=1, count=3)
    kind = Kind(library, CLASSIC)
    careful = clients.join(kind, f"{group}-careful", topic, isolation=COMMITTED)
    hasty = clients.join(kind, f"{group}-hasty", topic)
    eventually(lambda: len(values(hasty)) == 4)
    assert values(careful) == []
    producer.abort()
    eventually(lambda: numbers(careful) == [0, 1, 2])


@each(EVERY_KIND)
def test_what_was_read_and_what_was_made_of_it_are_committed_together(
    clients: Clients, coordinator: BrokerProcess, kind: Kind, topic: str, group: str
) -> None:
    target = f"{topic}-doubled"
    for name in (topic, target):
        create_ready_topic(coordinator, name)
    fill(coordinator, topic, partitions=1, count=10)
    reader = clients.join(kind, group, topic, isolation=COMMITTED)
    eventually(lambda: numbers(reader) == list(range(10)))
    producer = clients.transactional(kind.library, group)
    place = (topic, 0)

    producer.begin()
    producer.send(target, [b"%d" % (2 * number) for number in range(6)])
    producer.send_offsets(reader, group, {place: 6})
    producer.commit()
    committed = reader.committed(place)
    assert committed is not None
    assert committed.offset == 6

    producer.begin()
    producer.send(target, [b"12", b"14"])
    producer.send_offsets(reader, group, {place: 8})
    producer.abort()
    committed = reader.committed(place)
    assert committed is not None
    assert committed.offset == 6, "the offsets went with the transaction"
    reader.close()

    again = clients.join(kind, group, topic, isolation=COMMITTED)
    eventually(lambda: numbers(again) == [6, 7, 8, 9])
    check = clients.join(kind, f"{group}-check", target, isolation=COMMITTED)
    eventually(lambda: numbers(check) == [0, 2, 4, 6, 8, 10])


@each_library(LIBRARIES)
def test_a_second_producer_with_the_same_id_fences_the_first(
    clients: Clients, coordinator: BrokerProcess, library: str, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    zombie = clients.transactional(library, group)
    zombie.begin()
    zombie.send(topic, [b"half done"])
    successor = clients.transactional(library, group)
    with pytest.raises(RefusedError) as refused:
        zombie.commit()
    assert refused.value.code in FENCED
    successor.begin()
    successor.send(topic, [b"done"])
    successor.commit()
    reader = clients.join(Kind(library, CLASSIC), group, topic, isolation=COMMITTED)
    eventually(lambda: values(reader) == [b"done"])


@each_library(LIBRARIES)
def test_a_transaction_that_takes_too_long_is_aborted(
    clients: Clients, coordinator: BrokerProcess, library: str, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    slow = clients.transactional(library, group, timeout_ms=1_000)
    slow.begin()
    slow.send(topic, [b"slow"])
    fill(coordinator, topic, partitions=1, count=1)
    reader = clients.join(Kind(library, CLASSIC), group, topic, isolation=COMMITTED)
    eventually(lambda: numbers(reader) == [0])
    with pytest.raises(RefusedError) as refused:
        slow.commit()
    # Transactions version 2 knows of its own epoch's abort; version 1 takes it for fencing.
    assert refused.value.code in {*FENCED, INVALID_TXN_STATE}
    assert numbers(reader) == [0]


@pytest.mark.java
def test_producers_of_both_transaction_versions_share_a_partition(
    clients: Clients, coordinator: BrokerProcess, topic: str, group: str, java_driver: object
) -> None:
    create_ready_topic(coordinator, topic)
    producers = {library: clients.transactional(library, f"{group}-{library}") for library in LIBRARIES}
    for producer in producers.values():
        producer.begin()
    for library, producer in producers.items():
        producer.send(topic, [library.encode()])
    for library, producer in producers.items():
        if library == KAFKA_PYTHON:
            producer.abort()
        else:
            producer.commit()
    reader = clients.join(Kind(CONFLUENT, CONSUMER), group, topic, isolation=COMMITTED)
    eventually(lambda: len(values(reader)) == 3)
    assert values(reader) == [b"confluent-kafka", b"aiokafka", b"java"]
    assert reader.assignment() == places(topic, 1)
