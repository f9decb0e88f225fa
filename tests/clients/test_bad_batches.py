"""Record batches that lie: the error codes were taken from Apache Kafka 4.3.1, one by one."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from tests.support.batches import Batch, split_batches
from tests.support.ready import create_ready_topic
from tests.support.requests import fetch_request, init_producer_id_request, partition_of, produce_request
from tests.support.targets import ON_APACHE
from tests.support.waiting import eventually
from tests.support.wire import Connection

from barnabas.testing import BrokerProcess

UNKNOWN_SERVER_ERROR, NONE, CORRUPT_MESSAGE, UNKNOWN_TOPIC = -1, 0, 2, 3
INVALID_REQUIRED_ACKS, OUT_OF_ORDER, INVALID_PRODUCER_EPOCH = 21, 45, 47
INVALID_RECORD = 87

GOOD = Batch().encode()


def _produce(port: int, topic: str, records: bytes | None, **options: Any) -> Any:
    with Connection(port) as connection:
        return partition_of(connection.ask(produce_request(topic, records, **options)))


def _end_offset(port: int, topic: str) -> int:
    with Connection(port) as connection:
        return int(partition_of(connection.ask(fetch_request(topic, 0))).high_watermark)


@pytest.mark.parametrize(
    ("records", "code"),
    [
        pytest.param(Batch(crc=1).encode(), CORRUPT_MESSAGE, id="wrong-crc"),
        pytest.param(Batch(length=len(GOOD)).encode(), INVALID_RECORD, id="length-beyond-the-end"),
        pytest.param(Batch(length=len(GOOD) - 13).encode(), CORRUPT_MESSAGE, id="length-one-short"),
        pytest.param(Batch(length=3).encode(), CORRUPT_MESSAGE, id="length-below-a-header"),
        pytest.param(Batch(length=0).encode(), CORRUPT_MESSAGE, id="length-zero"),
        pytest.param(Batch(length=-1).encode(), CORRUPT_MESSAGE, id="length-negative"),
        pytest.param(Batch(magic=0).encode(), INVALID_RECORD, id="magic-0"),
        pytest.param(Batch(magic=1).encode(), INVALID_RECORD, id="magic-1"),
        pytest.param(Batch(magic=3).encode(), CORRUPT_MESSAGE, id="magic-3"),
        pytest.param(Batch(magic=-1).encode(), CORRUPT_MESSAGE, id="magic-negative"),
        pytest.param(Batch(record_count=5).encode(), INVALID_RECORD, id="count-too-large"),
        pytest.param(Batch(record_count=0).encode(), INVALID_RECORD, id="count-zero"),
        pytest.param(Batch(record_count=-1).encode(), INVALID_RECORD, id="count-negative"),
        pytest.param(Batch(last_offset_delta=7).encode(), INVALID_RECORD, id="delta-too-large"),
        pytest.param(Batch(last_offset_delta=-1).encode(), INVALID_RECORD, id="delta-negative"),
        pytest.param(b"", INVALID_RECORD, id="empty"),
        pytest.param(GOOD + GOOD, INVALID_RECORD, id="two-batches"),
        pytest.param(GOOD[:10], INVALID_RECORD, id="ten-bytes"),
        pytest.param(GOOD[:-3], INVALID_RECORD, id="cut-off"),
        pytest.param(Batch(attributes=0x20).encode(), INVALID_RECORD, id="control-batch"),
    ],
)
def test_a_batch_that_lies_is_refused_with_kafkas_code(
    target: BrokerProcess, existing_topic: str, records: bytes, code: int
) -> None:
    assert _produce(target.port, existing_topic, GOOD).base_offset == 0
    answer = _produce(target.port, existing_topic, records)
    assert (answer.error_code, answer.base_offset) == (code, -1)
    assert _produce(target.port, existing_topic, GOOD).base_offset == 1, (
        "nothing was stored, the partition goes on"
    )


@pytest.mark.parametrize(
    "records",
    [
        pytest.param(Batch(length=2**31 - 1).encode(), id="length-huge"),
        *(
            pytest.param(
                Batch(attributes=codec, payload=b"not compressed at all").encode(), id=f"codec-{codec}"
            )
            for codec in range(1, 8)
        ),
        pytest.param(Batch(payload=b"\xff" * 30).encode(), id="garbage-records"),
        pytest.param(Batch(payload=b"").encode(), id="no-records"),
        pytest.param(Batch(record_count=8, last_offset_delta=7).encode(), id="fewer-records-than-counted"),
    ],
)
def test_a_batch_whose_inside_contradicts_its_header_stops_no_other_consumer(
    target: BrokerProcess, existing_topic: str, records: bytes
) -> None:
    """Apache Kafka opens every batch and refuses these, mostly with UNKNOWN_SERVER_ERROR. Whoever keeps
    batches closed may store one; then the records around it stay readable and the offsets consistent.
    """
    _produce(target.port, existing_topic, GOOD)
    answer = _produce(target.port, existing_topic, records)
    if ON_APACHE:
        assert answer.error_code in (UNKNOWN_SERVER_ERROR, INVALID_RECORD)
    after = _produce(target.port, existing_topic, Batch(values=[b"after"]).encode())
    assert after.error_code == NONE
    assert after.base_offset >= 1
    with Connection(target.port) as reader:
        fetched = partition_of(reader.ask(fetch_request(existing_topic, after.base_offset)))
    assert b"after" in split_batches(fetched.records)[-1]


@pytest.mark.parametrize("acks", [2, -2])
def test_impossible_acks_are_refused(target: BrokerProcess, existing_topic: str, acks: int) -> None:
    answer = _produce(target.port, existing_topic, GOOD, acks=acks)
    assert (answer.error_code, answer.base_offset) == (INVALID_REQUIRED_ACKS, -1)


def test_an_error_without_acks_closes_the_connection(target: BrokerProcess, existing_topic: str) -> None:
    with Connection(target.port) as connection:
        connection.send_request(produce_request(existing_topic, Batch(crc=1).encode(), acks=0))
        assert connection.is_closed_by_peer()


def test_no_acks_means_no_answer(target: BrokerProcess, existing_topic: str) -> None:
    with Connection(target.port) as connection:
        connection.send_request(produce_request(existing_topic, GOOD, acks=0))
        answer = connection.ask(produce_request(existing_topic, GOOD, acks=1))
        assert partition_of(answer).base_offset == 1, "the only answer is that of the second request"


@pytest.mark.parametrize(
    ("topic_name", "partition"), [("nobody-knows-it", 0), ("two words", 0), ("", 0), (None, 7), (None, -1)]
)
def test_an_unknown_partition_is_refused(
    target: BrokerProcess, existing_topic: str, topic_name: str | None, partition: int
) -> None:
    name = existing_topic if topic_name is None else topic_name
    answer = _produce(target.port, name, GOOD, partition=partition)
    assert (answer.error_code, answer.base_offset) == (UNKNOWN_TOPIC, -1)


def test_bytes_after_the_batch_are_dropped(target: BrokerProcess, existing_topic: str) -> None:
    assert _produce(target.port, existing_topic, GOOD + b"xyz").error_code == NONE
    assert _produce(target.port, existing_topic, GOOD).base_offset == 1
    with Connection(target.port) as reader:
        records = partition_of(reader.ask(fetch_request(existing_topic, 0))).records
    assert len(records) == 2 * len(GOOD)


def test_a_keyless_record_on_a_compacted_topic_is_named_in_the_answer(
    target: BrokerProcess, topic: str
) -> None:
    create_ready_topic(target, topic, configs={"cleanup.policy": "compact"})
    answer = _produce(target.port, topic, Batch(values=[b"a", b"b"]).encode())
    assert (answer.error_code, answer.base_offset) == (INVALID_RECORD, -1)
    assert [error.batch_index for error in answer.record_errors] == [0, 1]


def test_a_compressed_bomb_is_bounded_or_refused(target: BrokerProcess, topic: str) -> None:
    """Half a gigabyte of zeros in half a megabyte of gzip, on a topic whose records must be opened."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    payload = b"".join(packer.compress(b"\0" * 1_048_576) for _ in range(512)) + packer.flush()
    create_ready_topic(target, topic, configs={"cleanup.policy": "compact"})
    answer = _produce(target.port, topic, Batch(attributes=1, payload=payload).encode())
    assert answer.error_code != NONE
    assert _end_offset(target.port, topic) == 0


class _Producer:
    """A producer id and the batches it sends."""

    def __init__(self, port: int, topic: str) -> None:
        self.port, self.topic = port, topic
        eventually(self._get_producer_id)

    def _get_producer_id(self) -> bool:
        """Kafka answers COORDINATOR_LOAD_IN_PROGRESS until its controller has given it a block of ids."""
        with Connection(self.port) as connection:
            answer = connection.ask(init_producer_id_request())
        self.producer_id = answer.producer_id
        return bool(answer.error_code == NONE)

    def send(self, sequence: int, *, count: int = 1, epoch: int = 0) -> tuple[int, int]:
        batch = Batch(
            [b"v"] * count, producer_id=self.producer_id, producer_epoch=epoch, base_sequence=sequence
        )
        answer = _produce(self.port, self.topic, batch.encode())
        return int(answer.error_code), int(answer.base_offset)


def test_a_repeated_batch_is_acknowledged_with_its_first_offset(
    target: BrokerProcess, existing_topic: str
) -> None:
    producer = _Producer(target.port, existing_topic)
    assert [producer.send(sequence) for sequence in range(7)] == [(NONE, sequence) for sequence in range(7)]
    assert producer.send(6) == (NONE, 6)
    assert producer.send(2) == (NONE, 2), "the oldest of the five that are remembered"
    assert producer.send(0) == (OUT_OF_ORDER, -1), "forgotten: Kafka remembers five batches"
    assert producer.send(5, count=5) == (OUT_OF_ORDER, -1), "half old, half new"
    assert producer.send(7) == (NONE, 7)


def test_a_gap_in_the_sequence_is_refused(target: BrokerProcess, existing_topic: str) -> None:
    producer = _Producer(target.port, existing_topic)
    assert producer.send(0, count=3) == (NONE, 0)
    assert producer.send(4) == (OUT_OF_ORDER, -1)
    assert producer.send(3) == (NONE, 3)


def test_a_new_epoch_starts_at_zero_and_fences_the_old_one(
    target: BrokerProcess, existing_topic: str
) -> None:
    producer = _Producer(target.port, existing_topic)
    assert producer.send(0) == (NONE, 0)
    assert producer.send(5, epoch=1) == (OUT_OF_ORDER, -1)
    assert producer.send(0, epoch=1) == (NONE, 1)
    assert producer.send(1, epoch=0) == (INVALID_PRODUCER_EPOCH, -1)


def test_a_producer_without_history_may_start_anywhere(target: BrokerProcess, existing_topic: str) -> None:
    """Its history may have been deleted with the records; Kafka asks for no beginning then."""
    producer = _Producer(target.port, existing_topic)
    assert producer.send(5) == (NONE, 0)
    assert producer.send(6) == (NONE, 1)


def test_a_negative_sequence_of_a_producer_is_refused(target: BrokerProcess, existing_topic: str) -> None:
    assert _Producer(target.port, existing_topic).send(-1) == (INVALID_RECORD, -1)


def test_producer_ids_are_not_given_twice(target: BrokerProcess, existing_topic: str) -> None:
    given = [_Producer(target.port, existing_topic).producer_id for _ in range(20)]
    assert len(set(given)) == 20
