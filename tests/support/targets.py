"""Which broker the suite talks to: ours; with `BARNABAS_TEST_TARGET=apache` Apache Kafka as the oracle; with
`cluster` three brokers of ours, where topics have three copies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NoReturn, Self

import pytest
from bench.apache_kafka import ApacheKafka
from tests.support.zookeeper import need_java

from barnabas.testing import Broker, BrokerProcess, Cluster

TARGET = os.environ.get("BARNABAS_TEST_TARGET", "barnabas")
ON_APACHE, ON_CLUSTER = TARGET == "apache", TARGET == "cluster"
REPLICAS = 3 if ON_CLUSTER else 1
# Three brokers, a ZooKeeper and all the clients share two cores: nobody's session ends because of that.
_PATIENT: dict[str, object] = {"zookeeper.session.timeout.ms": 30_000}


def make_broker(settings: dict[str, object] | None = None, directory: Path | None = None) -> BrokerProcess:
    options: dict[str, Any] = {"directory": directory}
    if ON_APACHE:
        return ApacheKafka(settings, heap_options=("-Xmx512m", "-XX:+UseSerialGC"), **options)
    if ON_CLUSTER:
        return ClusterTarget(settings or {})
    return Broker(settings, **options)


class ClusterTarget(BrokerProcess):
    """A cluster where the suite expects one broker. What is about one broker alone — its port, its disk, its
    end — is not asked here: those tests are skipped."""

    name = "Barnabas cluster"

    def __init__(self, settings: dict[str, object]) -> None:
        need_java()
        self.cluster = Cluster(3, _PATIENT | settings)
        super().__init__([], {}, port=0, directory=self.cluster.directory)

    @property
    def bootstrap(self) -> str:
        return self.cluster.bootstrap

    @property
    def port(self) -> int:
        self._about_one_broker()

    @port.setter
    def port(self, port: int) -> None:
        """There are three."""

    @property
    def log_dir(self) -> Path:
        self._about_one_broker()

    @property
    def pid(self) -> int:
        self._about_one_broker()

    def start(self) -> Self:
        self.cluster.start()
        return self

    def is_running(self) -> bool:
        return any(broker.is_running() for broker in self.cluster.brokers)

    def close(self) -> None:
        self.cluster.close()

    def stop(self) -> None:
        self._about_one_broker()

    def kill(self) -> None:
        self._about_one_broker()

    def log_text(self) -> str:
        return "\n".join(broker.log_tail(30) for broker in self.cluster.brokers)

    def _about_one_broker(self) -> NoReturn:
        pytest.skip("about one broker alone")
