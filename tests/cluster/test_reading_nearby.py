"""A consumer that says where it is reads from the replica in its rack (KIP-392), or else from the leader."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping

import pytest
from confluent_kafka import Consumer, Producer
from tests.support.agreement import settle
from tests.support.zookeeper import need_java

from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from barnabas.testing import Cluster
from barnabas.wire import Cluster as WireCluster
from barnabas.wire.admin import topics
from barnabas.wire.fetching import Fetcher

RACKS = ("east", "west", "north")
RECORDS = 200
PATIENCE_S = 60
SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


@pytest.fixture(scope="module")
def nearby() -> Iterator[Cluster]:
    need_java()
    with Cluster(3, {"replica.selector.class": SELECTOR}, racks=RACKS) as running:
        yield running


def create(cluster: Cluster, topic: str) -> None:
    """Led by broker 0, in the east; all replicas have all of it."""
    with WireCluster.connect(cluster.bootstrap) as asked:
        topics.create(asked, topic, assignment={0: [0, 1, 2]})
    settle(cluster)
    produce(cluster, topic)


def produce(cluster: Cluster, topic: str) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all"})
    for number in range(RECORDS):
        producer.produce(topic, str(number))
    assert producer.flush(PATIENCE_S) == 0


class Reader:
    """A consumer that says which broker it reads from."""

    def __init__(self, cluster: Cluster, topic: str, rack: str) -> None:
        self.source = -1
        self.count = 0
        self._topic = topic
        self._consumer = Consumer(
            {
                "bootstrap.servers": cluster.bootstrap,
                "group.id": f"{topic}-{rack}",
                "client.rack": rack,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "statistics.interval.ms": 100,
                "stats_cb": self._heard,
            }
        )
        self._consumer.subscribe([topic])

    def _heard(self, text: str) -> None:
        statistics: Mapping[str, object] = json.loads(text)
        topics = statistics["topics"]
        assert isinstance(topics, dict)
        self.source = topics.get(self._topic, {}).get("partitions", {}).get("0", {}).get("broker", -1)

    def read(self, count: int, source: int) -> bool:
        """Whether it reads so many, and from there in the end."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and (self.count < count or self.source != source):
            self.count += sum(message.error() is None for message in self._consumer.consume(100, timeout=0.2))
        return self.count == count and self.source == source

    def close(self) -> None:
        self._consumer.close()


@pytest.mark.parametrize(("rack", "source"), [("west", 1), ("north", 2), ("east", 0), ("nowhere", 0)])
def test_a_consumer_reads_from_the_replica_in_its_rack(nearby: Cluster, rack: str, source: int) -> None:
    topic = f"read-in-{rack}"
    create(nearby, topic)
    reader = Reader(nearby, topic, rack)
    assert reader.read(RECORDS, source)
    produce(nearby, topic)  # what comes later is found there, too
    assert reader.read(2 * RECORDS, source)
    reader.close()


def test_a_consumer_goes_to_the_leader_when_its_replica_is_killed(nearby: Cluster) -> None:
    create(nearby, "orphaned")
    reader = Reader(nearby, "orphaned", "north")
    assert reader.read(RECORDS, 2)
    nearby.brokers[2].kill()
    produce(nearby, "orphaned")
    assert reader.read(2 * RECORDS, 0)
    reader.close()
    nearby.brokers[2].start()
    nearby.wait_until_whole()


def test_our_own_client_is_sent_to_its_rack_and_reads_there(nearby: Cluster) -> None:
    create(nearby, "wired")
    with WireCluster.connect(nearby.bootstrap) as asked:
        assert sent_to(asked, rack="west") == 1
        assert sent_to(asked, rack="") == -1
        fetcher = Fetcher(asked, TopicPartition("wired", 0), rack_id="west")
        offset, deadline = 0, time.monotonic() + PATIENCE_S
        while offset < RECORDS and time.monotonic() < deadline:
            fetcher.ask(offset)
            offset = fetcher.answer().next_offset
        assert offset == RECORDS
        assert fetcher._source_id == 1


def sent_to(cluster: WireCluster, rack: str) -> int:
    """What the leader says to a first fetch."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        partition = FetchPartition(0, fetch_offset=0, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_wait_ms=100,
            min_bytes=1,
            max_bytes=1 << 20,
            topics=[FetchTopic(topic="wired", partitions=[partition])],
            rack_id=rack,
        )
        answer = cluster.call_once(request, FetchResponse, 0, version_max=12)
        (row,) = [row for topic in answer.responses for row in topic.partitions]
        assert isinstance(row, PartitionData)
        assert row.error_code == 0
        # A follower is in sync before the leader has heard how far it is.
        if row.preferred_read_replica >= 0 or not rack or time.monotonic() > deadline:
            assert bool(row.records) == (row.preferred_read_replica < 0)
            return row.preferred_read_replica
