"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class MetadataRequestTopic(Message):
    __slots__ = ('topic_id', 'name')
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=10),
        Field('name', 'string', '', nullable_since=10),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        name: str | None = '',
    ) -> None:
        self.topic_id = topic_id
        self.name = name


class MetadataRequest(Message):
    __slots__ = ('topics', 'allow_auto_topic_creation', 'include_cluster_authorized_operations', 'include_topic_authorized_operations')
    API_KEY: ClassVar[int] = 3
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topics', 'struct', (), array=True, struct=MetadataRequestTopic, nullable_since=1),
        Field('allow_auto_topic_creation', 'bool', True, since=4),
        Field('include_cluster_authorized_operations', 'bool', False, since=8, until=10),
        Field('include_topic_authorized_operations', 'bool', False, since=8),
    )

    def __init__(
        self,
        topics: Sequence[MetadataRequestTopic] | None = (),
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
    ) -> None:
        self.topics = topics
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.include_topic_authorized_operations = include_topic_authorized_operations


class MetadataResponseBroker(Message):
    __slots__ = ('node_id', 'host', 'port', 'rack')
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('node_id', 'int32', 0),
        Field('host', 'string', ''),
        Field('port', 'int32', 0),
        Field('rack', 'string', None, since=1, nullable_since=1),
    )

    def __init__(
        self,
        node_id: int = 0,
        host: str = '',
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack


class MetadataResponsePartition(Message):
    __slots__ = ('error_code', 'partition_index', 'leader_id', 'leader_epoch', 'replica_nodes', 'isr_nodes', 'offline_replicas')
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('partition_index', 'int32', 0),
        Field('leader_id', 'int32', 0),
        Field('leader_epoch', 'int32', -1, since=7),
        Field('replica_nodes', 'int32', (), array=True),
        Field('isr_nodes', 'int32', (), array=True),
        Field('offline_replicas', 'int32', (), array=True, since=5),
    )

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: Sequence[int] = (),
        isr_nodes: Sequence[int] = (),
        offline_replicas: Sequence[int] = (),
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = replica_nodes
        self.isr_nodes = isr_nodes
        self.offline_replicas = offline_replicas


class MetadataResponseTopic(Message):
    __slots__ = ('error_code', 'name', 'topic_id', 'is_internal', 'partitions', 'topic_authorized_operations')
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('name', 'string', '', nullable_since=12),
        Field('topic_id', 'uuid', _ZERO, since=10),
        Field('is_internal', 'bool', False, since=1),
        Field('partitions', 'struct', (), array=True, struct=MetadataResponsePartition),
        Field('topic_authorized_operations', 'int32', -2147483648, since=8),
    )

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = '',
        topic_id: bytes = _ZERO,
        is_internal: bool = False,
        partitions: Sequence[MetadataResponsePartition] = (),
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = partitions
        self.topic_authorized_operations = topic_authorized_operations


class MetadataResponse(Message):
    __slots__ = ('throttle_time_ms', 'brokers', 'cluster_id', 'controller_id', 'topics', 'error_code', 'cluster_authorized_operations')
    API_KEY: ClassVar[int] = 3
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=3),
        Field('brokers', 'struct', (), array=True, struct=MetadataResponseBroker),
        Field('cluster_id', 'string', None, since=2, nullable_since=2),
        Field('controller_id', 'int32', -1, since=1),
        Field('topics', 'struct', (), array=True, struct=MetadataResponseTopic),
        Field('error_code', 'int16', 0, since=13),
        Field('cluster_authorized_operations', 'int32', -2147483648, since=8, until=10),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        brokers: Sequence[MetadataResponseBroker] = (),
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: Sequence[MetadataResponseTopic] = (),
        error_code: int = 0,
        cluster_authorized_operations: int = -2147483648,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.brokers = brokers
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.topics = topics
        self.error_code = error_code
        self.cluster_authorized_operations = cluster_authorized_operations
