"""A real broker for other people's tests.

>>> from barnabas.testing import Broker
>>> with Broker({"num.partitions": 3}) as broker:
...     print(broker.bootstrap)                                             # doctest: +ELLIPSIS
127.0.0.1:...

With pytest: `pytest_plugins = ["barnabas.testing.plugin"]` gives the fixtures `broker` and `start_broker`.
"""

from barnabas.testing.broker import Broker
from barnabas.testing.process import BrokerFailedError, BrokerProcess, free_port

__all__ = ["Broker", "BrokerFailedError", "BrokerProcess", "free_port"]
