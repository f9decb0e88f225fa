"""A real cluster for tests: ZooKeeper and several brokers, each a process of its own."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.testing.broker import Broker
from barnabas.testing.ports import free_port
from barnabas.testing.process import BrokerFailedError, BrokerProcess
from barnabas.testing.zookeeper import Zookeeper, ensemble
from barnabas.wire import Connection, WireError
from barnabas.wire.address import Address
from barnabas.wire.settings import Settings

SESSION_TIMEOUT_MS = 2_000
_PATIENCE = Settings.from_properties(
    {"request.timeout.ms": "2000", "socket.connection.setup.timeout.ms": "2000"}
)


class Cluster:
    """Brokers 0, 1, 2, … on a ZooKeeper of their own.

        with Cluster(3, {"num.partitions": 6}) as cluster:
            producer = Producer({"bootstrap.servers": cluster.bootstrap})
            cluster.brokers[1].kill()

    `settings` go to every broker, `racks` one to each. `brokers[i]` and `zookeepers[i]` are processes:
    `kill()`, `stop()`, `start()`, `pause()`, `resume()`. Needs Java and `barnabas[cluster]`.
    """

    def __init__(
        self,
        brokers: int = 3,
        settings: Mapping[str, object] | None = None,
        *,
        zookeepers: int = 1,
        racks: Sequence[str] = (),
        directory: Path | None = None,
        startup_timeout_s: float = 60.0,
    ) -> None:
        self._owns_directory = directory is None
        self.directory = directory or Path(tempfile.mkdtemp(prefix="barnabas-cluster-"))
        self.startup_timeout_s = startup_timeout_s
        self.settings = {**replicated(brokers), **(settings or {})}
        self.zookeepers = ensemble(zookeepers, self.directory)
        self.brokers: list[Broker] = []
        for index in range(brokers):
            self._define(index, racks[index % len(racks)] if racks else None)

    @property
    def zookeeper(self) -> Zookeeper:
        return self.zookeepers[0]

    @property
    def zookeeper_connect(self) -> str:
        return ",".join(zookeeper.bootstrap for zookeeper in self.zookeepers)

    @property
    def bootstrap(self) -> str:
        return ",".join(broker.bootstrap for broker in self.brokers)

    def _define(
        self, broker_id: int, rack: str | None, settings: Mapping[str, object] | None = None
    ) -> Broker:
        port = free_port()
        own: dict[str, object] = {"broker.id": broker_id, "zookeeper.connect": self.zookeeper_connect}
        if rack is not None:
            own["broker.rack"] = rack
        broker = Broker(
            {**self.settings, **own, **(settings or {})},
            directory=self.directory / f"broker-{broker_id}",
            port=port,
            startup_timeout_s=self.startup_timeout_s,
        )
        broker.settings.pop("node.id", None)
        broker.name = f"Barnabas broker {broker_id}"
        self.brokers.append(broker)
        return broker

    def add_broker(self, rack: str | None = None, settings: Mapping[str, object] | None = None) -> Broker:
        """One more, with the next id, started and known to the others when this returns."""
        broker = self._define(len(self.brokers), rack, settings).start()
        self.wait_until_whole()
        return broker

    def start(self) -> Self:
        """Returns when every broker knows every other."""
        for side_by_side in (self.zookeepers, self.brokers):
            for process in side_by_side:
                process.launch()
            for process in side_by_side:
                process.wait_until_ready()
        self.wait_until_whole()
        return self

    def wait_until_whole(self) -> None:
        """Until every broker that runs says in its Metadata that it knows all that run, and a controller."""
        running = {index: broker for index, broker in enumerate(self.brokers) if broker.is_running()}
        deadline = time.monotonic() + self.startup_timeout_s
        while not all(_knows(broker.port, running) for broker in running.values()):
            if time.monotonic() > deadline:
                tails = "\n".join(f"{broker.name}:\n{broker.log_tail(20)}" for broker in self.brokers)
                raise BrokerFailedError(f"the brokers do not know each other:\n{tails}")
            time.sleep(0.02)

    def close(self) -> None:
        """The end of everything at once: nobody looks at the data again."""
        with ExitStack() as stack:
            if self._owns_directory:
                stack.callback(shutil.rmtree, self.directory, ignore_errors=True)
            processes: list[BrokerProcess] = [*self.zookeepers, *self.brokers]
            for process in processes:
                stack.callback(process.kill)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            for broker in self.brokers:
                error.add_note(f"the last lines of the {broker.name}'s log:\n{broker.log_tail(25)}")
        self.close()


def replicated(broker_count: int) -> dict[str, object]:
    """What Kafka's guides advise for so many brokers."""
    copies, in_sync = min(3, broker_count), min(2, broker_count)
    return {
        "zookeeper.session.timeout.ms": SESSION_TIMEOUT_MS,
        "zookeeper.connection.timeout.ms": 30_000,
        "default.replication.factor": copies,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": copies,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": in_sync,
        "transaction.state.log.num.partitions": 4,
    }


def _knows(port: int, broker_ids: Iterable[int]) -> bool:
    try:
        with Connection.open(Address("127.0.0.1", port), _PATIENCE) as connection:
            answer = connection.call(MetadataRequest(topics=[]), MetadataResponse)
    except WireError:
        return False
    known = {broker.node_id for broker in answer.brokers}
    return answer.controller_id in known and known >= set(broker_ids)
