"""A real broker for other people's tests.

    with Broker({"num.partitions": 3}) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap})

With pytest: `pytest_plugins = ["barnabas.testing.plugin"]` gives the fixtures `broker` and
`start_broker`. The guide is `docs/testing.md`.
"""

from barnabas.testing.broker import Broker
from barnabas.testing.process import BrokerFailedError, BrokerProcess, free_port

__all__ = ["Broker", "BrokerFailedError", "BrokerProcess", "free_port"]
