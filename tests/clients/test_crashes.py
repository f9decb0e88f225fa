"""Kill -9 under load: what was acknowledged is there, once, in order, at the offset that was told.

The long form is `make crash CRASHES=100`.
"""

from __future__ import annotations

import os
import random
import time

import pytest
from tests.conftest import StartTarget
from tests.support.client import LATEST
from tests.support.confluent_client import ConfluentClient
from tests.support.crash_load import IdempotentLoad, RawLoad
from tests.support.ready import create_ready_topic
from tests.support.targets import ON_APACHE
from tests.support.waiting import eventually

CRASH_COUNT = int(os.environ.get("BARNABAS_CRASHES", "2" if ON_APACHE else "8"))


@pytest.mark.timeout(300 + 30 * CRASH_COUNT)
def test_nothing_acknowledged_is_lost_by_kill_9_under_load(start_target: StartTarget, topic: str) -> None:
    broker = start_target({"log.segment.bytes": 1_048_576, "log.index.interval.bytes": 1_024})
    create_ready_topic(broker, topic, partitions=3)
    idempotent = IdempotentLoad(broker.bootstrap, topic, 0)
    raw = [RawLoad(broker.port, topic, 1, acks=1), RawLoad(broker.port, topic, 2, acks=-1)]
    loads: list[IdempotentLoad | RawLoad] = [idempotent, *raw]
    for load in loads:
        load.start()
    try:
        for _ in range(CRASH_COUNT):
            await_more(loads)
            time.sleep(random.uniform(0.0, 0.5))
            broker.kill()
            broker.start()
        await_more(loads)
    finally:
        for load in loads:
            load.finish()
    assert idempotent.errors == []
    reader = ConfluentClient(broker.bootstrap)
    stored = [_values(reader, topic, partition) for partition in range(3)]
    for load, values in zip(loads, stored, strict=True):
        assert len(load.acknowledged) > CRASH_COUNT
        wrong = {o: v for o, v in load.acknowledged.items() if o >= len(values) or values[o] != v}
        assert wrong == {}, "acknowledged records that are not where they were said to be"
        numbers = [int(value) for value in values]
        assert numbers == sorted(set(numbers)), "a record is twice or out of order"
    assert stored[0] == [b"%d" % number for number in range(idempotent.sent)], "exactly once, nothing missing"


def await_more(loads: list[IdempotentLoad | RawLoad]) -> None:
    """Until something new was acknowledged to each of them."""
    before = [len(load.acknowledged) for load in loads]
    eventually(lambda: all(len(load.acknowledged) > old for load, old in zip(loads, before, strict=True)))


def _values(reader: ConfluentClient, topic: str, partition: int) -> list[bytes]:
    count = reader.find_offset(topic, partition, LATEST)
    messages = reader.read(topic, partition, 0, count)
    assert [message.offset for message in messages] == list(range(count))
    return [message.value or b"" for message in messages]


def test_topics_and_settings_made_just_before_a_crash_are_there_after_it(
    start_target: StartTarget, topic: str
) -> None:
    broker = start_target()
    client = ConfluentClient(broker.bootstrap)
    client.create_topic(topic, partitions=3, configs={"retention.ms": "1234567"})
    client.alter_topic_config(topic, {"max.message.bytes": "7654"})
    broker.kill()
    broker.start()
    assert client.partition_count(topic) == 3
    config = client.topic_config(topic)
    assert (config["retention.ms"], config["max.message.bytes"]) == ("1234567", "7654")


def test_a_topic_deleted_just_before_a_crash_stays_deleted(start_target: StartTarget, topic: str) -> None:
    broker = start_target()
    client = ConfluentClient(broker.bootstrap)
    client.create_topic(topic)
    client.delete_topic(topic)
    broker.kill()
    broker.start()
    assert topic not in client.topics()
    client.create_topic(topic)
