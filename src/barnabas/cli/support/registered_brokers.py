"""The brokers that are registered in a ZooKeeper, as a client's first servers."""

from __future__ import annotations

import logging

from barnabas.cli.support.options import OptionError
from barnabas.controller import tree
from barnabas.controller.znodes import cluster
from barnabas.controller.znodes.fields import MalformedNodeError
from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.ports import StoreError, Subtree, Values
from barnabas.store.asking import Asking
from barnabas.store.zookeeper_errors import ZookeeperError

_TIMEOUT_MS = 10_000


def bootstrap_of(connect: str) -> str:
    """`host:port,host:port` of the brokers registered there; OptionError with a sentence where none is."""
    try:
        from barnabas.store.zookeeper import ZookeeperStore
        from barnabas.store.zookeeper_options import ZookeeperOptions
    except ImportError as missing:
        raise OptionError(
            f"--zookeeper needs the package {missing.name}: pip install 'barnabas[cluster]'"
        ) from missing
    options = ZookeeperOptions(
        connect, connection_timeout_ms=_TIMEOUT_MS, make_chroot=False, setting="--zookeeper"
    )
    logging.getLogger("kafka.zookeeper").setLevel(logging.CRITICAL)  # each attempt; the sentence says it once
    try:
        with Asking(ZookeeperStore(options)) as asking:
            (answer,) = asking.ask([Subtree(tree.BROKER_IDS)])
    except (ZookeeperError, StoreError) as error:
        raise OptionError(str(error)) from error
    assert isinstance(answer, Values)
    found = [address for value in answer.values[1:] if (address := _address(value.path, value.data))]
    if not found:
        raise OptionError(
            f"No broker is registered in ZooKeeper at {connect}: start one whose server.properties says "
            f"zookeeper.connect={connect}, or name a broker: --bootstrap-server host:9092"
        )
    return ",".join(found)


def _address(path: str, data: bytes) -> str | None:
    """Where it speaks without encryption, as tools of that time did; else its first listener."""
    try:
        endpoints = list(cluster.decode_broker(path, data, epoch=-1).endpoints.values())
    except MalformedNodeError:
        return None
    plain = [one for one in endpoints if one.security_protocol is SecurityProtocol.PLAINTEXT]
    chosen: Endpoint | None = next(iter(plain or endpoints), None)
    if chosen is None:
        return None
    return f"[{chosen.host}]:{chosen.port}" if ":" in chosen.host else f"{chosen.host}:{chosen.port}"
