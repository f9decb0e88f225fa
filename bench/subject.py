"""A broker under measurement, ours or Apache Kafka, and what has been put into it so far."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import confluent_kafka
import confluent_kafka.admin

from barnabas.testing import Broker, BrokerProcess
from bench.apache_kafka import ApacheKafka
from bench.generator import Measured, ProduceLoad
from bench.homes import home
from bench.meter import CpuMeter, resident_mib

KAFKA, BARNABAS = "Apache Kafka", "Barnabas"
# The cleaner looks often, so that the compaction row need not wait. Groups do not wait either: Kafka's delays
# of seconds would hide both brokers; rows of their own show them. Nothing else differs from the defaults.
SETTINGS: dict[str, object] = {
    "log.cleaner.backoff.ms": 500,
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.heartbeat.interval.ms": 20,
    "group.consumer.min.heartbeat.interval.ms": 20,
    "group.consumer.assignment.interval.ms": 0,
}

_admin: Any = confluent_kafka.admin


class Subject:
    def __init__(self, name: str, directory: Path, settings: Mapping[str, object] | None = None) -> None:
        kinds: dict[str, type[Broker] | type[ApacheKafka]] = {KAFKA: ApacheKafka, BARNABAS: Broker}
        self.name = name
        self.broker: BrokerProcess = kinds[name](
            {**SETTINGS, **(settings or {})}, directory=directory
        ).start()
        self.startup_s = self.broker.startup_s
        time.sleep(1.0)  # let it come to rest before the idle memory is read
        self.idle_mib = resident_mib(self.broker.pid)
        self._admin = _admin.AdminClient({"bootstrap.servers": self.broker.bootstrap, "log_level": 0})
        self._filled: dict[str, int] = {}
        self._fresh = 0

    @property
    def port(self) -> int:
        return self.broker.port

    @property
    def bootstrap(self) -> str:
        return self.broker.bootstrap

    @contextmanager
    def sibling(self, settings: Mapping[str, object]) -> Iterator[Subject]:
        """A second broker of the same kind with other settings, for as long as the block lasts."""
        with home(self.broker.directory, "sibling") as directory:
            other = Subject(self.name, directory, settings)
            try:
                yield other
            finally:
                other.close()

    def create_topic(
        self, topic: str, configs: Mapping[str, str] | None = None, *, partitions: int = 1
    ) -> str:
        new = _admin.NewTopic(
            topic, num_partitions=partitions, replication_factor=1, config=dict(configs or {})
        )
        for created in self._admin.create_topics([new]).values():
            created.result(60)
        while not self._admin.list_topics(topic, timeout=30).topics[topic].partitions:
            time.sleep(0.05)
        self._wait_for_leaders([confluent_kafka.TopicPartition(topic, index) for index in range(partitions)])
        return topic

    def _wait_for_leaders(self, partitions: list[Any]) -> None:
        """Apache Kafka's broker learns of its leadership a moment after the answer."""
        time.sleep(0.2)
        latest = dict.fromkeys(partitions, _admin.OffsetSpec.latest())
        deadline = time.monotonic() + 60
        while True:
            try:
                for found in self._admin.list_offsets(latest).values():
                    found.result(60)
            except confluent_kafka.KafkaException:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                return

    def fresh_topic(self, name: str, *, partitions: int = 1) -> str:
        """An empty topic: a row that is measured there and back finds the same both times."""
        self._fresh += 1
        return self.create_topic(f"{name}-{self._fresh}", partitions=partitions)

    def alter_topic(self, topic: str, configs: Mapping[str, str]) -> None:
        changes = [
            _admin.ConfigEntry(name, value, incremental_operation=_admin.AlterConfigOpType.SET)
            for name, value in configs.items()
        ]
        resource = _admin.ConfigResource(_admin.ResourceType.TOPIC, topic, incremental_configs=changes)
        for changed in self._admin.incremental_alter_configs([resource]).values():
            changed.result(60)

    def filled_topic(
        self, topic: str, bytes_wanted: int, load: ProduceLoad, configs: Mapping[str, str] | None = None
    ) -> str:
        """A topic that holds at least so many bytes in batches of the load's shape."""
        if topic not in self._filled:
            self.create_topic(topic, configs)
            self._filled[topic] = 0
        missing = bytes_wanted - self._filled[topic]
        if missing > 0:
            self._filled[topic] += _fill(load, missing).run(self.port, topic).bytes
        return topic

    def bring_into_page_cache(self, topic: str) -> None:
        """What is measured with this topic is not the disk. Not by fetching: a broker may give back
        the memory of what it reads from the disk."""
        for path in self._segments(topic):
            with path.open("rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass

    def note_filled(self, topic: str, measured: Measured) -> None:
        self._filled[topic] = self._filled.get(topic, 0) + measured.bytes

    def meter(self) -> CpuMeter:
        return CpuMeter(self.broker.pid)

    def topic_bytes(self, topic: str) -> int:
        return sum(path.stat().st_size for path in self._segments(topic))

    def _segments(self, topic: str) -> list[Path]:
        return sorted((self.broker.log_dir / f"{topic}-0").glob("*.log"))

    def drop_from_page_cache(self, topic: str) -> None:
        """Make the topic cold: write it out, then tell the kernel that its pages are not needed."""
        os.sync()
        for path in self._segments(topic):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)

    def close(self) -> None:
        self.broker.stop()


def _fill(load: ProduceLoad, bytes_max: int) -> ProduceLoad:
    return ProduceLoad(
        load.record_bytes,
        load.records_per_batch,
        in_flight=5,
        seconds=3_600,
        bytes_max=bytes_max,
        keys=load.keys,
    )
