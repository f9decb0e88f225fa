"""Producer, Consumer and Admin against a real broker process."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime

import pytest

from barnabas import Admin, Consumer, Producer
from barnabas.client import (
    ClientError,
    ConsumeError,
    DeliveryError,
    Record,
    RecordMetadata,
    from_json,
    text,
    to_json,
)
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.testing import BrokerProcess

# Nobody listens on the discard port of the loopback.
NOWHERE = "127.0.0.1:9"


def everything(broker: BrokerProcess, topic: str, **options: object) -> list[Record]:
    return list(Consumer(broker.bootstrap, topic, start="earliest", until_end=True, **options))  # type: ignore[arg-type]


def test_a_record_comes_back_as_it_was_sent(target: BrokerProcess, topic: str) -> None:
    Admin(target.bootstrap).create_topic(topic, partitions=3)
    headers = {"trace": "abc", "empty": None}
    with Producer(target.bootstrap) as producer:
        delivery = producer.send(topic, key="you", value="hello", headers=headers, timestamp_ms=1_234)
    (record,) = everything(target, topic)
    assert delivery.done()
    metadata = delivery.result()
    assert metadata == RecordMetadata(topic, record.partition, record.offset, 1_234)
    assert record == Record(
        topic, metadata.partition, 0, b"you", b"hello", (("trace", b"abc"), ("empty", None)), 1_234
    )


def test_values_pass_through_the_serialisers_and_none_stays_none(target: BrokerProcess, topic: str) -> None:
    Admin(target.bootstrap).create_topic(topic, partitions=1)
    with Producer(target.bootstrap, value_serialiser=to_json) as producer:
        producer.send(topic, {"n": 1, "ä": [True, None]}, key="k")
        producer.send(topic, None, key="k")
    records = everything(target, topic, key_deserialiser=text, value_deserialiser=from_json)
    assert [(record.key, record.value) for record in records] == [
        ("k", {"n": 1, "ä": [True, None]}),
        ("k", None),
    ]
    assert json.loads(everything(target, topic)[0].value) == {"n": 1, "ä": [True, None]}


def test_what_is_neither_bytes_nor_text_is_refused_without_a_serialiser(
    target: BrokerProcess, topic: str
) -> None:
    with Producer(target.bootstrap) as producer, pytest.raises(TypeError, match="to_json"):
        producer.send(topic, {"n": 1})


def test_a_chosen_partition_is_obeyed_and_keys_land_where_java_puts_them(
    target: BrokerProcess, topic: str
) -> None:
    Admin(target.bootstrap).create_topic(topic, partitions=3)
    with Producer(target.bootstrap) as producer:
        chosen = producer.send(topic, "x", partition=2)
        # murmur2("k1") % 3 is 2, of k2 0, of k3 1: what Kafka's own producer answers.
        keyed = [producer.send(topic, "x", key=key) for key in ("k1", "k2", "k3")]
    assert chosen.result().partition == 2
    assert [delivery.result().partition for delivery in keyed] == [2, 0, 1]


def test_an_unacknowledged_record_is_an_exception_at_the_end_of_the_block() -> None:
    def send_three() -> None:
        with Producer(NOWHERE, delivery_timeout_ms=300, linger_ms=0) as producer:
            for number in range(3):
                producer.send("t", str(number))

    with pytest.raises(DeliveryError, match="3 records were not acknowledged") as raised:
        send_three()
    assert raised.value.count == 3
    assert {failure.topic for failure in raised.value.failures} == {"t"}


def test_a_failure_somebody_has_seen_is_not_raised_again() -> None:
    with Producer(NOWHERE, delivery_timeout_ms=300, linger_ms=0) as producer:
        with pytest.raises(DeliveryError):
            producer.send("t", "x").result(timeout_seconds=30)
        producer.flush()


def test_a_lost_record_does_not_hide_behind_the_blocks_own_exception() -> None:
    def send_and_fail() -> None:
        with Producer(NOWHERE, delivery_timeout_ms=300, linger_ms=0) as producer:
            producer.send("t", "x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as raised:
        send_and_fail()
    assert "not acknowledged" in raised.value.__notes__[0]


def test_an_answer_that_has_not_come_yet_is_a_timeout() -> None:
    producer = Producer(NOWHERE, delivery_timeout_ms=2_000, linger_ms=0)
    delivery = producer.send("t", "x")
    with pytest.raises(TimeoutError):
        delivery.result(timeout_seconds=0.05)
    with pytest.raises(DeliveryError):
        producer.close()


def test_a_record_that_is_too_large_is_refused_with_kafkas_code(target: BrokerProcess, topic: str) -> None:
    Admin(target.bootstrap).create_topic(topic, partitions=1, config={"max.message.bytes": 100})
    with Producer(target.bootstrap) as producer, pytest.raises(DeliveryError) as raised:
        producer.send(topic, "x" * 1000).result(timeout_seconds=30)
    assert raised.value.name == "MESSAGE_TOO_LARGE"


def test_a_timestamp_that_librdkafka_would_misread_is_refused() -> None:
    with Producer(NOWHERE) as producer, pytest.raises(ValueError, match="above 0"):
        producer.send("t", "x", timestamp_ms=0)


def test_until_end_stops_at_the_records_that_were_there(target: BrokerProcess, topic: str) -> None:
    Admin(target.bootstrap).create_topic(topic, partitions=2)
    with Producer(target.bootstrap) as producer:
        for number in range(10):
            producer.send(topic, f"old{number}")
        producer.flush()
        consumer = Consumer(target.bootstrap, topic, start="earliest", until_end=True)
        for number in range(10):
            producer.send(topic, f"new{number}")
        producer.flush()
    assert {record.value for record in consumer} == {b"old%d" % number for number in range(10)}


def test_an_empty_topic_ends_at_once(target: BrokerProcess, topic: str) -> None:
    Admin(target.bootstrap).create_topic(topic, partitions=2)
    assert everything(target, topic) == []


def test_latest_means_after_the_constructor(target: BrokerProcess, topic: str) -> None:
    Admin(target.bootstrap).create_topic(topic, partitions=1)
    with Producer(target.bootstrap) as producer:
        producer.send(topic, "before").result(30)
        with Consumer(target.bootstrap, topic, timeout_seconds=30) as consumer:
            producer.send(topic, "after").result(30)
            assert next(consumer).value == b"after"


def test_reading_starts_at_an_offset_or_a_moment(target: BrokerProcess, topic: str) -> None:
    Admin(target.bootstrap).create_topic(topic, partitions=1)
    with Producer(target.bootstrap) as producer:
        for number in range(5):
            producer.send(topic, str(number), timestamp_ms=1_000 * number + 1).result(30)
    for start in (3, datetime.fromtimestamp(3.001, UTC)):
        consumer = Consumer(target.bootstrap, topic, start=start, until_end=True)
        assert [record.value for record in consumer] == [b"3", b"4"]


def test_a_partitions_end_does_not_end_the_wait_for_a_record(target: BrokerProcess, topic: str) -> None:
    Admin(target.bootstrap).create_topic(topic, partitions=2)
    with Producer(target.bootstrap) as producer, Consumer(target.bootstrap, topic) as consumer:
        later = threading.Timer(0.5, producer.send, [topic, "late"])
        later.start()
        record = consumer.poll(60)
        later.join()
    assert record is not None
    assert record.value == b"late"


def test_silence_ends_the_loop_when_asked(target: BrokerProcess, topic: str) -> None:
    Admin(target.bootstrap).create_topic(topic, partitions=1)
    assert list(Consumer(target.bootstrap, topic, timeout_seconds=0.3)) == []


def test_a_missing_topic_is_an_error_not_an_endless_wait(target: BrokerProcess, topic: str) -> None:
    with pytest.raises(ConsumeError) as raised:
        Consumer(target.bootstrap, topic)
    assert raised.value.name == "UNKNOWN_TOPIC_OR_PARTITION"


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ClientError, match="nonsense"):
        Producer(NOWHERE, nonsense=1)


def test_a_consumer_needs_a_topic_and_a_group_decides_its_own_offsets() -> None:
    with pytest.raises(ValueError, match="topic"):
        Consumer(NOWHERE)
    with pytest.raises(ValueError, match="group"):
        Consumer(NOWHERE, "t", group="g", until_end=True)


def test_topics_are_created_described_grown_and_deleted(target: BrokerProcess, topic: str) -> None:
    with Admin(target.bootstrap) as admin:
        made = admin.create_topic(topic, partitions=2)
        assert [partition.index for partition in made.partitions] == [0, 1]
        assert topic in admin.topics()
        with pytest.raises(ApiError) as raised:
            admin.create_topic(topic)
        assert raised.value.code is ErrorCode.TOPIC_ALREADY_EXISTS
        assert admin.create_topic(topic, exists_ok=True).topic_id == made.topic_id
        admin.add_partitions(topic, 4)
        assert len(admin.describe_topic(topic).partitions) == 4
        admin.delete_topic(topic)
        assert topic not in admin.topics()
        admin.delete_topic(topic, missing_ok=True)
        with pytest.raises(ApiError):
            admin.delete_topic(topic)


def test_settings_of_a_topic_are_read_changed_and_taken_back(target: BrokerProcess, topic: str) -> None:
    with Admin(target.bootstrap) as admin:
        admin.create_topic(topic, partitions=1, config={"retention.ms": 1_000, "preallocate": False})
        assert admin.config(topic)["retention.ms"] == "1000"
        admin.set_config(topic, {"retention.ms": 2_000})
        assert admin.config(topic)["retention.ms"] == "2000"
        admin.set_config(topic, {"retention.ms": None})
        assert admin.config(topic)["retention.ms"] == "604800000"


def test_offsets_follow_what_is_written_and_deleted(target: BrokerProcess, topic: str) -> None:
    with Admin(target.bootstrap) as admin:
        admin.create_topic(topic, partitions=1)
        with Producer(target.bootstrap) as producer:
            for number in range(5):
                producer.send(topic, str(number))
        assert (admin.offsets(topic)[0].start, admin.offsets(topic)[0].end) == (0, 5)
        admin.delete_records(topic, {0: 3})
        assert (admin.offsets(topic)[0].start, admin.offsets(topic)[0].end) == (3, 5)
