"""What goes into the pipeline, and whether it came out: every record once, each key in its order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from confluent_kafka import Producer

from barnabas.model.ids import TopicPartition
from barnabas.records.arrow.decode import decode
from barnabas.wire import Cluster
from barnabas.wire.admin import topics
from barnabas.wire.admin.offsets import Found, Spec, list_offsets
from barnabas.wire.fetching import Fetcher

KEYS = 10  # of a partition; a key is at home in one partition
WIDTH = 200
_END = 1 << 62


class Record(NamedTuple):
    partition: int
    key: bytes
    value: bytes

    @property
    def number(self) -> int:
        return int(self.value.split(b":")[1])


def create(bootstrap: str, topic: str, partitions: int) -> None:
    with Cluster.connect(bootstrap) as cluster:
        topics.create(cluster, topic, partitions)


def grow(bootstrap: str, topic: str, partitions: int) -> None:
    with Cluster.connect(bootstrap) as cluster:
        topics.add_partitions(cluster, {topic: partitions})


def fill(bootstrap: str, topic: str, partitions: int, numbers: range) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20})
    for partition in range(partitions):
        for number in numbers:
            key, value = f"{partition}-{number % KEYS}", f"{partition}:{number:06}:".ljust(WIDTH, "x")
            producer.produce(topic, value, key, partition)
    assert producer.flush(60) == 0


def read(bootstrap: str, topic: str, *, committed: bool) -> list[Record]:
    """Everything that is there now, each partition in its order."""
    with Cluster.connect(bootstrap) as cluster:
        (described,) = cluster.metadata([topic]).topics
        partitions = sorted(row.partition_index for row in described.partitions)
        return [record for index in partitions for record in _records(cluster, topic, index, committed)]


def _records(cluster: Cluster, topic: str, index: int, committed: bool) -> Iterator[Record]:
    fetcher = Fetcher(cluster, TopicPartition(topic, index), read_committed=committed, max_wait_ms=0)
    position, end = 0, 1
    while position < end:
        fetcher.ask(position)
        fetched = fetcher.answer()
        end = fetched.readable_end
        rows = decode(fetched.records, position, _END, aborted=fetched.aborted).rows
        for key, value in zip(rows["key"].to_pylist(), rows["value"].to_pylist(), strict=True):
            yield Record(index, key, value)
        position = fetched.next_offset
    fetcher.close()


def ends(bootstrap: str, topic: str, *, committed: bool) -> list[int]:
    """Where each partition ends, for those who wait for transactions' ends and for those who do not."""
    with Cluster.connect(bootstrap) as cluster:
        (described,) = cluster.metadata([topic]).topics
        partitions = [TopicPartition(topic, row.partition_index) for row in described.partitions]
        found = list_offsets(cluster, dict.fromkeys(partitions, Spec.LATEST), committed)
    return [row.offset if isinstance(row, Found) else -1 for _, row in sorted(found.items())]


def check_exactly_once(bootstrap: str, source: str, target: str) -> None:
    before = read(bootstrap, source, committed=True)
    after = read(bootstrap, target, committed=True)
    difference = Counter(row.value[:12] for row in after)
    difference.subtract(row.value[:12] for row in before)
    wrong = sorted((value, count) for value, count in difference.items() if count)
    assert not wrong, f"{len(wrong)} records are missing (-1) or there too often (1 and more): {wrong[:5]}"
    assert Counter(before_row[1:] for before_row in before) == Counter(after_row[1:] for after_row in after)
    by_key: dict[tuple[int, bytes], list[int]] = {}
    for row in after:
        by_key.setdefault((row.partition, row.key), []).append(row.number)
    assert all(numbers == sorted(numbers) for numbers in by_key.values()), "a key has lost its order"
    assert ends(bootstrap, target, committed=True) == ends(bootstrap, target, committed=False), (
        "a transaction was left open"
    )
