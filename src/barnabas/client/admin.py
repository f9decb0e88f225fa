"""Administration in a few verbs; for everything else there is `barnabas.wire`.

What the broker refuses is `barnabas.model.errors.ApiError`, with Kafka's code and sentence.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType

from barnabas.client.config import server_list
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster, check
from barnabas.wire.admin import configs, offsets, topics
from barnabas.wire.admin.topics import BROKER_DECIDES

_VISIBLE_WITHIN_SECONDS = 10.0
_LOOK_AGAIN_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Partition:
    index: int
    leader: int
    replicas: tuple[int, ...]
    in_sync_replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    topic_id: bytes
    partitions: tuple[Partition, ...]


@dataclass(frozen=True, slots=True)
class Offsets:
    """The first offset that is there, and the one the next record will get."""

    start: int
    end: int


class Admin:
    """`Admin("localhost:9092").create_topic("greetings", partitions=3)`. Kafka's settings are keywords."""

    def __init__(self, bootstrap_servers: str | Iterable[str], **settings: object) -> None:
        properties = {name.replace("_", "."): str(value) for name, value in settings.items()}
        self._cluster = Cluster.connect(server_list(bootstrap_servers), properties)
        # `Admin(...).create_topic(...)` leaves nobody to close it.
        self._finalizer = weakref.finalize(self, self._cluster.close)

    # --- topics ------------------------------------------------------------------------------------------

    def topics(self, *, internal: bool = False) -> list[str]:
        return sorted(topics.names(self._cluster, include_internal=internal))

    def create_topic(
        self,
        name: str,
        *,
        partitions: int = BROKER_DECIDES,
        replication_factor: int = BROKER_DECIDES,
        config: Mapping[str, object] | None = None,
        exists_ok: bool = False,
    ) -> Topic:
        """Create it and wait until it can be used. What is left out, the broker decides."""
        texts = {key: _text(value) for key, value in (config or {}).items()}
        try:
            topics.create(self._cluster, name, partitions, replication_factor, texts)
        except ApiError as refusal:
            if not (exists_ok and refusal.code is ErrorCode.TOPIC_ALREADY_EXISTS):
                raise
        return self._wait_for(name)

    def describe_topic(self, name: str) -> Topic:
        (found,) = topics.describe(self._cluster, [name])
        check(found.error_code)
        rows = sorted(found.partitions, key=lambda row: row.partition_index)
        partitions = [
            Partition(row.partition_index, row.leader_id, tuple(row.replica_nodes), tuple(row.isr_nodes))
            for row in rows
        ]
        return Topic(name, found.topic_id, tuple(partitions))

    def add_partitions(self, name: str, total: int) -> None:
        """Grow the topic to `total` partitions. Keys will then land elsewhere."""
        topics.add_partitions(self._cluster, {name: total})

    def delete_topic(self, name: str, *, missing_ok: bool = False) -> None:
        try:
            topics.delete(self._cluster, [name])
        except ApiError as refusal:
            if not (missing_ok and refusal.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION):
                raise

    def _wait_for(self, name: str) -> Topic:
        # Brokers learn of a topic a moment after the controller has answered.
        deadline = time.monotonic() + _VISIBLE_WITHIN_SECONDS
        while True:
            try:
                topic = self.describe_topic(name)
                if topic.partitions and all(partition.leader >= 0 for partition in topic.partitions):
                    return topic
            except ApiError as refusal:
                if not refusal.code.retriable or time.monotonic() > deadline:
                    raise
            if time.monotonic() > deadline:
                raise ApiError(ErrorCode.LEADER_NOT_AVAILABLE)
            time.sleep(_LOOK_AGAIN_SECONDS)

    # --- settings ----------------------------------------------------------------------------------------

    def config(self, topic: str) -> dict[str, str | None]:
        """Every setting of the topic, inherited ones included."""
        resource = configs.Resource(configs.ResourceType.TOPIC, topic)
        return {row.name: row.value for row in configs.describe(self._cluster, resource)}

    def set_config(self, topic: str, config: Mapping[str, object | None]) -> None:
        """All of the changes or none. None takes a setting back to its default."""
        changes = [
            configs.Change(name, None, configs.Operation.DELETE)
            if value is None
            else configs.Change(name, _text(value))
            for name, value in config.items()
        ]
        configs.alter(self._cluster, configs.Resource(configs.ResourceType.TOPIC, topic), changes)

    # --- offsets -----------------------------------------------------------------------------------------

    def offsets(self, topic: str) -> dict[int, Offsets]:
        """Where each partition starts and ends now."""
        partitions = [TopicPartition(topic, row.index) for row in self.describe_topic(topic).partitions]
        starts = offsets.list_offsets(self._cluster, dict.fromkeys(partitions, offsets.Spec.EARLIEST))
        ends = offsets.list_offsets(self._cluster, dict.fromkeys(partitions, offsets.Spec.LATEST))
        return {one.partition: Offsets(_offset(starts[one]), _offset(ends[one])) for one in partitions}

    def delete_records(self, topic: str, before: Mapping[int, int]) -> None:
        """Forget everything before the given offset of each partition (-1: everything)."""
        wanted = {TopicPartition(topic, partition): offset for partition, offset in before.items()}
        for outcome in offsets.delete_records(self._cluster, wanted).values():
            if isinstance(outcome, ApiError):
                raise outcome

    def close(self) -> None:
        self._finalizer()

    def __enter__(self) -> Admin:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _offset(found: offsets.Found | ApiError) -> int:
    if isinstance(found, ApiError):
        raise found
    return found.offset


def _text(value: object) -> str:
    """Kafka's spelling of a setting's value: Python's True is its `true`."""
    return str(value).lower() if isinstance(value, bool) else str(value)
