"""A cluster of three under measurement: ours on its ZooKeeper, or Apache Kafka's on its own quorum."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import confluent_kafka.admin

from barnabas.testing import BrokerFailedError, BrokerProcess, Cluster, free_port
from bench.apache_kafka import ApacheKafka, run_tool
from bench.meter import cpu_seconds, resident_mib
from bench.subject import BARNABAS

SIZE = 3
# Both notice a dead broker after two seconds, as `barnabas cluster` does: the rest is what they do then.
SESSION_MS = 2_000
_PATIENCE_S = 180.0

_admin: Any = confluent_kafka.admin


class ClusterSubject:
    """`brokers` are the processes that serve; `all_processes` those that somebody has to run."""

    def __init__(self, name: str, directory: Path) -> None:
        self.name = name
        self._cluster: Cluster | None = None
        began = time.monotonic()
        if name == BARNABAS:
            self._cluster = Cluster(SIZE, _SETTINGS, directory=directory, startup_timeout_s=_PATIENCE_S)
            self.brokers: Sequence[BrokerProcess] = self._cluster.brokers
        else:
            self.brokers = _kafka_nodes(directory)
            for broker in self.brokers:
                broker.directory.mkdir(parents=True, exist_ok=True)
        self.start()
        self.startup_s = time.monotonic() - began if self._cluster else self._launched_s
        self._fresh = 0

    def start(self) -> None:
        began = time.monotonic()
        if self._cluster is not None:
            self._cluster.start()
        else:
            for broker in self.brokers:
                broker.launch()
            for broker in self.brokers:
                broker.wait_until_ready()
            self.wait(lambda: len(self.metadata().brokers) == SIZE)
        self._launched_s = time.monotonic() - began

    @property
    def bootstrap(self) -> str:
        return ",".join(broker.bootstrap for broker in self.brokers)

    @property
    def all_processes(self) -> list[BrokerProcess]:
        helpers: Sequence[BrokerProcess] = self._cluster.zookeepers if self._cluster else ()
        return [*helpers, *self.brokers]

    def stop(self) -> None:
        """In good order, as far as that goes: the last of Kafka's controllers have nobody left to ask."""
        for broker in self.brokers:
            os.kill(broker.pid, signal.SIGTERM)
        for process in reversed(self.all_processes):
            if process.is_running():
                try:
                    process.stop()
                except BrokerFailedError:
                    process.kill()

    def close(self) -> None:
        for process in reversed(self.all_processes):
            with contextlib.suppress(OSError):
                process.kill()

    # --- what it costs -------------------------------------------------------------------------------------

    def cpu_s(self) -> float:
        return sum(cpu_seconds(process.pid) for process in self.all_processes if process.is_running())

    def memory_mib(self) -> float:
        """Of a broker, on average, with its share of what else must run."""
        return sum(resident_mib(p.pid) for p in self.all_processes if p.is_running()) / SIZE

    # --- what it says --------------------------------------------------------------------------------------

    def metadata(self, topic: str | None = None) -> Any:
        client = _admin.AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        return client.list_topics(topic, timeout=30)

    def leader_of(self, topic: str) -> int:
        """The place in `brokers` of who leads partition 0."""
        return self._place(self.metadata(topic).topics[topic].partitions[0].leader)

    def controller(self) -> int:
        if self._cluster is not None:
            return self._place(self.metadata().controller_id)
        words = ("--bootstrap-server", self.bootstrap, "describe", "--status")
        told = run_tool("org.apache.kafka.tools.MetadataQuorumCommand", *words).stdout
        (line,) = [line for line in told.splitlines() if line.startswith("LeaderId:")]
        return self._place(int(line.split()[1]))

    def _place(self, broker_id: int) -> int:
        return broker_id if self._cluster is not None else broker_id - 1

    def wait(self, reached: Any) -> float:
        """Seconds until then."""
        began = time.monotonic()
        while True:
            with contextlib.suppress(confluent_kafka.KafkaException):
                if reached():
                    return time.monotonic() - began
            if time.monotonic() - began > _PATIENCE_S:
                raise RuntimeError(f"{self.name} did not get there in {_PATIENCE_S:.0f} s")
            time.sleep(0.02)

    def is_whole(self, topics: Sequence[str]) -> bool:
        found = self.metadata().topics
        return all(
            name in found
            and all(len(p.isrs) == len(p.replicas) and p.leader >= 0 for p in found[name].partitions.values())
            for name in topics
        )

    # --- topics --------------------------------------------------------------------------------------------

    def fresh_topic(self, name: str, partitions: int, replicas: int = SIZE) -> str:
        self._fresh += 1
        topic = f"{name}-{self._fresh}"
        self.create({topic: (partitions, replicas)})
        return topic

    def create(self, topics: Mapping[str, tuple[int, int]]) -> None:
        """Until every replica of them is in sync."""
        self.ask_for(topics, _PATIENCE_S)
        self.wait(lambda: self.is_whole(list(topics)))

    def ask_for(self, topics: Mapping[str, tuple[int, int]], patience_s: float) -> None:
        """Until the controller says that they exist. With a client of its own each time: one that was told of
        a dead controller waits for it."""
        client = _admin.AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        new = [
            _admin.NewTopic(name, num_partitions=partitions, replication_factor=replicas)
            for name, (partitions, replicas) in topics.items()
        ]
        for topic in new:  # one request each: both refuse more than ten thousand partitions at once
            for created in client.create_topics([topic], request_timeout=patience_s).values():
                created.result(patience_s + 10)


_SETTINGS: dict[str, object] = {
    "zookeeper.session.timeout.ms": SESSION_MS,
    "auto.create.topics.enable": False,
}


def _kafka_nodes(directory: Path) -> list[ApacheKafka]:
    ports = [(free_port(), free_port()) for _ in range(SIZE)]
    voters = ",".join(f"{at + 1}@127.0.0.1:{controller}" for at, (_, controller) in enumerate(ports))
    return [
        ApacheKafka(
            {
                "node.id": at + 1,
                "controller.quorum.voters": voters,
                "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
                "default.replication.factor": SIZE,
                "min.insync.replicas": 2,
                "offsets.topic.replication.factor": SIZE,
                "broker.session.timeout.ms": SESSION_MS,
                "broker.heartbeat.interval.ms": SESSION_MS // 4,
                "auto.create.topics.enable": False,
            },
            directory=directory / f"node-{at + 1}",
            port=port,
        )
        for at, (port, controller) in enumerate(ports)
    ]
