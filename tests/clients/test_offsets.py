"""ListOffsets in every way a client can ask."""

from __future__ import annotations

import pytest
from tests.support.client import EARLIEST, LATEST, MAX_TIMESTAMP, Client, Outgoing
from tests.support.confluent_client import ConfluentClient
from tests.support.over import ALL, CONFLUENT, JAVA, KAFKA_PYTHON, over
from tests.support.requests import list_offsets_request, partition_of
from tests.support.waiting import at_once
from tests.support.wire import Connection

from barnabas.testing import BrokerProcess

START_MS = 1_700_000_000_000
UNSUPPORTED_VERSION = 35


def _produce_every_ten_ms(client: Client, topic: str, count: int = 50) -> None:
    """Two batches of `count` records, ten milliseconds between records."""
    for first in (0, count):
        client.produce(
            topic, [Outgoing(b"%d" % n, timestamp_ms=START_MS + 10 * n) for n in range(first, first + count)]
        )


@over(ALL)
def test_earliest_and_latest_frame_the_partition(client: Client, topic: str) -> None:
    client.create_topic(topic)
    at_once(lambda: client.find_offset(topic, 0, EARLIEST) == 0)
    at_once(lambda: client.find_offset(topic, 0, LATEST) == 0)
    _produce_every_ten_ms(client, topic)
    assert (client.find_offset(topic, 0, EARLIEST), client.find_offset(topic, 0, LATEST)) == (0, 100)


@over(ALL)
def test_a_timestamp_finds_the_first_record_at_or_after_it(client: Client, topic: str) -> None:
    client.create_topic(topic)
    _produce_every_ten_ms(client, topic)
    for wanted_ms, offset in ((0, 0), (5, 1), (10, 1), (491, 50), (500, 50), (505, 51), (990, 99), (991, -1)):
        assert client.find_offset(topic, 0, START_MS + wanted_ms) == offset, f"{wanted_ms} ms"


@over((CONFLUENT, KAFKA_PYTHON, JAVA))
def test_max_timestamp_finds_the_youngest_record_wherever_it_is(client: Client, topic: str) -> None:
    client.create_topic(topic)
    at_once(lambda: client.find_offset(topic, 0, MAX_TIMESTAMP) == -1)
    ages = [0, 30, 99, 50, 10]
    client.produce(topic, [Outgoing(b"x", timestamp_ms=START_MS + age) for age in ages])
    client.produce(topic, [Outgoing(b"x", timestamp_ms=START_MS + age) for age in (1, 2)])
    assert client.find_offset(topic, 0, MAX_TIMESTAMP) == 2


@over(ALL)
@pytest.mark.parametrize("compression", ["gzip", "lz4"])
def test_a_timestamp_finds_records_inside_compressed_batches(
    client: Client, topic: str, compression: str
) -> None:
    client.create_topic(topic)
    records = [Outgoing(b"%d" % n, timestamp_ms=START_MS + n) for n in range(200)]
    client.produce(topic, records, compression=compression)
    assert client.find_offset(topic, 0, START_MS + 123) == 123


@pytest.mark.parametrize(("timestamp", "offset"), [(-1, 1), (-2, 0), (-3, 0), (-4, 0), (-5, -1)], ids=str)
def test_every_special_timestamp_has_its_answer(
    target: BrokerProcess, existing_topic: str, timestamp: int, offset: int
) -> None:
    """-4 is the earliest local offset, -5 the latest tiered one: there is no second tier."""
    ConfluentClient(target.bootstrap).produce(existing_topic, [Outgoing(b"x")])
    with Connection(target.port) as connection:
        found = partition_of(connection.ask(list_offsets_request(existing_topic, timestamp, version=9)))
    assert (found.error_code, found.offset) == (0, offset)


def test_an_unknown_special_timestamp_is_an_unsupported_version(
    target: BrokerProcess, existing_topic: str
) -> None:
    with Connection(target.port) as connection:
        found = partition_of(connection.ask(list_offsets_request(existing_topic, -99, version=9)))
    assert (found.error_code, found.offset) == (UNSUPPORTED_VERSION, -1)
