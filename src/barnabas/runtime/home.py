"""Where a broker's metadata lives: with `zookeeper.connect` in ZooKeeper, else in the first log directory."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from barnabas.controller import tree
from barnabas.model.settings.broker import BrokerSettings
from barnabas.ports import Completed, MetadataStore, NoNodeError, Put, Set, Value, Write
from barnabas.store.sqlite import SqliteStore
from barnabas.store.zookeeper_errors import ZookeeperError

if TYPE_CHECKING:
    from barnabas.store.zookeeper_options import ZookeeperOptions

_ANSWER_TIMEOUT_SECONDS = 30


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
        asking = _Asking(self.store())
        try:
            try:
                written = asking.ask(Set(tree.BROKER_SEQUENCE_ID, b""))
            except NoNodeError:
                asking.ask(Put(tree.BROKER_SEQUENCE_ID, b""))
                written = asking.ask(Set(tree.BROKER_SEQUENCE_ID, b""))
        finally:
            asking.close()
        return self._reserved_max + written.stat.version


class _Asking:
    """A store before there is a loop: one question at a time, waited for."""

    def __init__(self, store: MetadataStore) -> None:
        self._store = store
        self._signal = threading.Event()
        store.start(self._signal.set)

    def ask(self, operation: Write) -> Value:
        ticket = self._store.submit([operation])
        while True:
            self._signal.clear()
            for event in self._store.events():
                if isinstance(event, Completed) and event.ticket == ticket:
                    return _value(event)
            if not self._signal.wait(_ANSWER_TIMEOUT_SECONDS):
                raise ZookeeperError("ZooKeeper does not answer: a broker.id could not be generated.")

    def close(self) -> None:
        self._store.close()


def _value(completed: Completed) -> Value:
    if completed.error is not None:
        raise completed.error
    (answer,) = completed.answers
    assert isinstance(answer, Value)
    return answer
