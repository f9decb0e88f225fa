"""Where a broker's metadata lives: with `zookeeper.connect` in ZooKeeper, else in the first log directory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from barnabas.controller import tree
from barnabas.model.settings.broker import BrokerSettings
from barnabas.ports import MetadataStore, NoNodeError, Put, Set, Value
from barnabas.store.asking import Asking
from barnabas.store.sqlite import SqliteStore
from barnabas.store.zookeeper_errors import ZookeeperError

if TYPE_CHECKING:
    from barnabas.store.zookeeper_options import ZookeeperOptions


class Home(Protocol):
    def store(self) -> MetadataStore: ...

    def generate_broker_id(self) -> int:
        """For a broker that was given none: one above `reserved.broker.max.id`."""
        ...


def home_of(settings: BrokerSettings, environment: Mapping[str, str]) -> Home:
    if settings.zookeeper_connect is None:
        return _OwnFile(settings)
    try:
        # Only here: a broker alone does not need what a cluster needs.
        from barnabas.runtime.zookeeper_login import login_of
        from barnabas.store.zookeeper import ZookeeperStore  # noqa: F401
        from barnabas.store.zookeeper_options import options_of
    except ImportError as missing:
        raise ZookeeperError(
            f"zookeeper.connect needs the package {missing.name}: pip install 'barnabas[cluster]'"
        ) from missing
    return _Ensemble(options_of(settings, login_of(environment)), settings)


class _OwnFile:
    def __init__(self, settings: BrokerSettings) -> None:
        self._directory = settings.log_dirs[0]
        self._settings = settings

    def store(self) -> MetadataStore:
        return SqliteStore(self._directory)

    def generate_broker_id(self) -> int:
        return self._settings.integer("reserved.broker.max.id") + 1


class _Ensemble:
    def __init__(self, options: ZookeeperOptions, settings: BrokerSettings) -> None:
        self._options = options
        self._reserved_max = settings.integer("reserved.broker.max.id")

    def store(self) -> MetadataStore:
        from barnabas.store.zookeeper import ZookeeperStore

        return ZookeeperStore(self._options)

    def generate_broker_id(self) -> int:
        """As Kafka does: each write raises the version of one node, and no two writes see the same."""
        number = Set(tree.BROKER_SEQUENCE_ID, b"")
        with Asking(self.store()) as asking:
            try:
                (written,) = asking.ask([number])
            except NoNodeError:
                asking.ask([Put(tree.BROKER_SEQUENCE_ID, b"")])
                (written,) = asking.ask([number])
        assert isinstance(written, Value)
        return self._reserved_max + written.stat.version
