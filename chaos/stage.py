"""Three brokers and three ZooKeepers as processes; between them and everybody, proxies."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from barnabas.testing import Broker, BrokerFailedError, Cluster, free_port
from barnabas.wire import Cluster as WireCluster
from barnabas.wire import WireError
from chaos.faults import Fault, Kind
from chaos.proxy import Loop, Proxy, Weather

BROKER_COUNT = 3
_PATIENCE_S = 90.0
_SETTINGS: dict[str, object] = {
    "zookeeper.session.timeout.ms": 2_000,
    "replica.lag.time.max.ms": 5_000,
    "listener.security.protocol.map": "CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT",
    "inter.broker.listener.name": "BROKERS",
    "group.min.session.timeout.ms": 1_000,
    "auto.create.topics.enable": False,
    "leader.imbalance.check.interval.seconds": 5,
}


class Stage:
    """`elapsed` faults are carried out by `suffer`; it returns when what was broken is mended."""

    def __init__(self, directory: Path) -> None:
        self._stack = ExitStack()
        self.cluster = Cluster(BROKER_COUNT, _SETTINGS, zookeepers=3, directory=directory)
        self.to_clients: list[Proxy] = []
        self.to_brokers: list[Proxy] = []
        self.crashes: list[str] = []  # brokers that ended and were not asked to
        loop = Loop()
        self._stack.callback(loop.close)
        for broker in self.cluster.brokers:
            self._put_behind_proxies(broker, loop)

    def _put_behind_proxies(self, broker: Broker, loop: Loop) -> None:
        inner = free_port()
        for proxies, port in ((self.to_clients, broker.port), (self.to_brokers, inner)):
            proxies.append(Proxy(loop, port))
            self._stack.callback(proxies[-1].close)
        broker.settings["listeners"] = f"CLIENTS://127.0.0.1:{broker.port},BROKERS://127.0.0.1:{inner}"
        broker.settings["advertised.listeners"] = (
            f"CLIENTS://127.0.0.1:{self.to_clients[-1].port},BROKERS://127.0.0.1:{self.to_brokers[-1].port}"
        )

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{proxy.port}" for proxy in self.to_clients)

    def __enter__(self) -> Self:
        self._stack.enter_context(self.cluster)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    # --- faults ---

    def suffer(self, fault: Fault) -> bool:
        """False where it could not be done: a disk is only taken from a cluster that has all its copies."""
        broker = self.cluster.brokers[fault.broker]
        match fault.kind:
            case Kind.KILL:
                self._down(broker.kill, broker, 0.0)
            case Kind.KILL_AND_WAIT:
                self._down(broker.kill, broker, fault.lasting_s)
            case Kind.RESTART:
                self._down(broker.stop, broker, 0.0)
            case Kind.PAUSE:
                broker.pause()
                time.sleep(fault.lasting_s)
                broker.resume()
            case Kind.EMPTY_DISK:
                # Two lost disks at once are more than three copies of which two must be in sync can bear.
                if not self.wait_until_in_sync(_PATIENCE_S):
                    return False
                self._down(lambda: self._empty(broker), broker, fault.lasting_s)
            case Kind.ZOOKEEPER_LEADER:
                self._kill_zookeeper_leader(fault.lasting_s)
            case Kind.CUT_CLIENTS:
                self._weather(self.to_clients[fault.broker], Weather.CUT, fault.lasting_s)
            case Kind.CUT_BROKERS:
                self._weather(self.to_brokers[fault.broker], Weather.CUT, fault.lasting_s)
            case Kind.STALL_BROKERS:
                self._weather(self.to_brokers[fault.broker], Weather.STALLED, fault.lasting_s)
        return True

    def _down(self, end: Callable[[], None], broker: Broker, lasting_s: float) -> None:
        end()
        time.sleep(lasting_s)
        self._start(broker)

    def _start(self, broker: Broker) -> None:
        """A broker that does not come back is a finding; the run goes on, and tries again."""
        try:
            broker.start()
        except BrokerFailedError as error:
            self.crashes.append(str(error))

    def _empty(self, broker: Broker) -> None:
        broker.kill()
        shutil.rmtree(broker.log_dir)

    def _kill_zookeeper_leader(self, lasting_s: float) -> None:
        leader = next((one for one in self.cluster.zookeepers if one.mode() == "leader"), None)
        if leader is not None:
            leader.kill()
            time.sleep(lasting_s)
            leader.start()

    def _weather(self, proxy: Proxy, weather: Weather, lasting_s: float) -> None:
        proxy.become(weather)
        time.sleep(lasting_s)
        proxy.become(Weather.FINE)

    # --- looking ---

    def revive_the_crashed(self) -> None:
        """Called where every broker should be alive: one that is not ended by itself, a finding."""
        for broker in self.cluster.brokers:
            if not broker.is_running():
                self.crashes.append(f"{broker.name} does not run, or ended by itself:\n{broker.log_tail(12)}")
                broker.kill()
                self._start(broker)

    def leaders(self, topics: list[str]) -> dict[tuple[str, int], int]:
        """(topic, partition) → broker; empty where nobody answers."""
        rows = self._partitions(topics)
        return {(name, number): leader for name, number, leader, _ in rows}

    def wait_until_in_sync(self, patience_s: float) -> bool:
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            rows = self._partitions(None)
            if rows and all(leader >= 0 and in_sync == BROKER_COUNT for _, _, leader, in_sync in rows):
                return True
            time.sleep(0.1)
        return False

    def _partitions(self, topics: list[str] | None) -> list[tuple[str, int, int, int]]:
        patience = {"default.api.timeout.ms": "3000", "request.timeout.ms": "1500"}
        try:
            with WireCluster.connect(self.bootstrap, patience) as cluster:
                found = cluster.metadata(topics).topics
        except WireError:
            return []
        return [
            (topic.name or "", row.partition_index, row.leader_id, len(row.isr_nodes))
            for topic in found
            for row in topic.partitions
        ]
