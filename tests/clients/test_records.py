"""What a producer hands in is what every consumer gets out."""

from __future__ import annotations

import itertools
import time

import pytest
from tests.clients.conftest import MakeClient
from tests.support.client import CREATE_TIME, LOG_APPEND_TIME, Client, Outgoing, RefusedError
from tests.support.confluent_client import ConfluentClient
from tests.support.over import ALL, CONFLUENT, JAVA, KAFKA_PYTHON, over

from barnabas.testing import BrokerProcess

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
MESSAGE_TOO_LARGE, INVALID_RECORD, INVALID_TIMESTAMP = 10, 87, 32


@over(ALL)
@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_acks_level_stores_the_records(client: Client, topic: str, acks: str) -> None:
    client.create_topic(topic)
    offsets = client.produce(topic, [Outgoing(b"a"), Outgoing(b"b")], acks=acks)
    if acks != "0":  # nobody promises offsets without an answer
        assert offsets == [0, 1]
    assert [message.value for message in client.read(topic, 0, 0, 2)] == [b"a", b"b"]


@over(ALL)
def test_keys_values_headers_and_timestamps_come_back_as_sent(client: Client, topic: str) -> None:
    client.create_topic(topic)
    sent = [
        Outgoing(b"value", b"key", timestamp_ms=1_600_000_000_000, headers=(("h", b"1"), ("h", b"2"))),
        Outgoing(b"", b"", timestamp_ms=1_600_000_000_001),
        Outgoing(None, b"tombstone", timestamp_ms=1_600_000_000_002),
        Outgoing(b"no key", None, timestamp_ms=1_600_000_000_003, headers=(("empty", b""),)),
        Outgoing(bytes(range(256)), "κλειδί".encode(), timestamp_ms=1_600_000_000_004),
    ]
    client.produce(topic, sent)
    got = client.read(topic, 0, 0, len(sent))
    assert [(m.value, m.key, m.timestamp_ms, m.headers) for m in got] == [
        (s.value, s.key, s.timestamp_ms, s.headers) for s in sent
    ]
    assert {m.timestamp_type for m in got} == {CREATE_TIME}


@over(ALL)
def test_log_append_time_is_the_brokers_clock(client: Client, topic: str) -> None:
    client.create_topic(topic, configs={"message.timestamp.type": "LogAppendTime"})
    before_ms = int(time.time() * 1000)
    client.produce(topic, [Outgoing(b"x", timestamp_ms=1_600_000_000_000)])
    after_ms = int(time.time() * 1000)
    (message,) = client.read(topic, 0, 0, 1)
    assert message.timestamp_type == LOG_APPEND_TIME
    assert before_ms <= message.timestamp_ms <= after_ms


@pytest.mark.parametrize("codec", CODECS)
@over(ALL, "producer_name")
def test_every_codec_of_every_producer_is_read_by_every_consumer(
    target: BrokerProcess,
    make_client: MakeClient,
    topic: str,
    producer_name: str,
    codec: str,
    consumer_names: list[str],
) -> None:
    producer = make_client(producer_name, target.bootstrap)
    producer.create_topic(topic)
    values = [f"{number:05d}".encode() * 40 for number in range(300)]
    producer.produce(topic, [Outgoing(value, b"k") for value in values], compression=codec)
    for name in consumer_names:
        got = make_client(name, target.bootstrap).read(topic, 0, 0, len(values))
        assert [message.value for message in got] == values, f"read by {name}"
        assert [message.offset for message in got] == list(range(len(values))), f"read by {name}"


@over(ALL)
def test_many_thousand_records_come_back_exactly_and_in_order(client: Client, topic: str) -> None:
    client.create_topic(topic, partitions=2)
    count = 200_000 if isinstance(client, ConfluentClient) else 20_000
    client.produce(topic, [Outgoing(b"%d" % number, partition=number % 2) for number in range(count)])
    for partition in (0, 1):
        got = client.read(topic, partition, 0, count // 2)
        assert [message.offset for message in got] == list(range(count // 2))
        assert [message.value for message in got] == [b"%d" % n for n in range(partition, count, 2)]


@over(ALL)
def test_an_idempotent_producer_writes_each_record_once(client: Client, topic: str) -> None:
    client.create_topic(topic)
    values = [b"%d" % number for number in range(2_000)]
    offsets = client.produce(topic, [Outgoing(value) for value in values], idempotent=True)
    assert offsets == list(range(2_000))
    assert [message.value for message in client.read(topic, 0, 0, 2_000)] == values
    assert client.find_offset(topic, 0, -1) == 2_000


@over(ALL)
@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_a_seek_into_the_middle_of_a_batch_starts_at_that_record(
    client: Client, topic: str, compression: str
) -> None:
    client.create_topic(topic)
    client.produce(topic, [Outgoing(b"%d" % number) for number in range(100)], compression=compression)
    for offset in (1, 37, 99):
        got = client.read(topic, 0, offset, 100 - offset)
        assert got[0].offset == offset
        assert [message.value for message in got] == [b"%d" % number for number in range(offset, 100)]


@over(ALL)
def test_a_first_batch_above_the_fetch_limit_is_returned(client: Client, topic: str) -> None:
    client.create_topic(topic)
    large = [bytes([65 + number]) * 300_000 for number in range(3)]
    for value in large:
        client.produce(topic, [Outgoing(value)])
    got = client.read(topic, 0, 0, 3, partition_max_bytes=1_000)
    assert [message.value for message in got] == large


@over(ALL)
def test_a_batch_above_max_message_bytes_is_refused(client: Client, topic: str) -> None:
    client.create_topic(topic, configs={"max.message.bytes": "2000"})
    client.produce(topic, [Outgoing(b"x" * 1_500)])
    with pytest.raises(RefusedError) as refused:
        client.produce(topic, [Outgoing(b"x" * 3_000)])
    assert refused.value.code == MESSAGE_TOO_LARGE
    assert client.find_offset(topic, 0, -1) == 1


@over((CONFLUENT, KAFKA_PYTHON, JAVA))  # aiokafka has no name for this error
def test_a_compacted_topic_refuses_a_record_without_key(client: Client, topic: str) -> None:
    client.create_topic(topic, configs={"cleanup.policy": "compact"})
    client.produce(topic, [Outgoing(b"v", b"k")])
    with pytest.raises(RefusedError) as refused:
        client.produce(topic, [Outgoing(b"v", None)])
    assert refused.value.code == INVALID_RECORD
    assert client.find_offset(topic, 0, -1) == 1


@over((CONFLUENT, JAVA))
def test_a_timestamp_too_far_from_the_clock_is_refused(client: Client, topic: str) -> None:
    client.create_topic(topic, configs={"message.timestamp.after.max.ms": "1000"})
    tomorrow_ms = int(time.time() * 1000) + 86_400_000
    with pytest.raises(RefusedError) as refused:
        client.produce(topic, [Outgoing(b"x", timestamp_ms=tomorrow_ms)])
    assert refused.value.code == INVALID_TIMESTAMP


@over((CONFLUENT, JAVA))
def test_the_broker_recompresses_when_the_topic_asks(
    client: Client, topic: str, target: BrokerProcess
) -> None:
    client.create_topic(topic, configs={"compression.type": "gzip"})
    values = [b"abc" * 200 for _ in range(50)]
    client.produce(topic, [Outgoing(value) for value in values], compression="none")
    assert [message.value for message in client.read(topic, 0, 0, 50)] == values
    segment = target.log_dir / f"{topic}-0" / "00000000000000000000.log"
    stored = segment.read_bytes()
    assert stored[22] & 7 == 1, "attributes of the first batch name gzip"
    assert len(stored) < 50 * 600


@over(ALL)
def test_interleaved_producers_share_a_partition_without_gaps(client: Client, topic: str) -> None:
    client.create_topic(topic)
    offsets = list(
        itertools.chain.from_iterable(
            client.produce(topic, [Outgoing(b"x")] * 3, idempotent=i % 2 == 0) for i in range(4)
        )
    )
    assert offsets == list(range(12))
