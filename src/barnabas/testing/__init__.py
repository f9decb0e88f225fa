"""A real broker, or a cluster, for other people's tests.

    with Broker({"num.partitions": 3}) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap})

    with Cluster(3) as cluster:
        cluster.brokers[1].kill()

With pytest: `pytest_plugins = ["barnabas.testing.plugin"]` gives the fixtures `broker` and
`start_broker`. The guide is `docs/testing.md`.
"""

from barnabas.testing.broker import Broker
from barnabas.testing.cluster import Cluster
from barnabas.testing.ports import free_port
from barnabas.testing.process import BrokerFailedError, BrokerProcess
from barnabas.testing.zookeeper import Zookeeper

__all__ = ["Broker", "BrokerFailedError", "BrokerProcess", "Cluster", "Zookeeper", "free_port"]
