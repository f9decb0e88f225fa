"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class PartitionData(Message):
    __slots__ = ('partition_index',)
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0),
    )

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


class TopicData(Message):
    __slots__ = ('topic_name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_name', 'string', ''),
        Field('partitions', 'struct', (), array=True, struct=PartitionData),
    )

    def __init__(
        self,
        topic_name: str = '',
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class DescribeQuorumRequest(Message):
    __slots__ = ('topics',)
    API_KEY: ClassVar[int] = 55
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topics', 'struct', (), array=True, struct=TopicData),
    )

    def __init__(
        self,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.topics = topics


class ReplicaState(Message):
    __slots__ = ('replica_id', 'replica_directory_id', 'log_end_offset', 'last_fetch_timestamp', 'last_caught_up_timestamp')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('replica_id', 'int32', 0),
        Field('replica_directory_id', 'uuid', _ZERO, since=2),
        Field('log_end_offset', 'int64', 0),
        Field('last_fetch_timestamp', 'int64', -1, since=1),
        Field('last_caught_up_timestamp', 'int64', -1, since=1),
    )

    def __init__(
        self,
        replica_id: int = 0,
        replica_directory_id: bytes = _ZERO,
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,
        last_caught_up_timestamp: int = -1,
    ) -> None:
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.log_end_offset = log_end_offset
        self.last_fetch_timestamp = last_fetch_timestamp
        self.last_caught_up_timestamp = last_caught_up_timestamp


class ResponsePartitionData(Message):
    __slots__ = ('partition_index', 'error_code', 'error_message', 'leader_id', 'leader_epoch', 'high_watermark', 'current_voters', 'observers')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', '', since=2, nullable_since=2),
        Field('leader_id', 'int32', 0),
        Field('leader_epoch', 'int32', 0),
        Field('high_watermark', 'int64', 0),
        Field('current_voters', 'struct', (), array=True, struct=ReplicaState),
        Field('observers', 'struct', (), array=True, struct=ReplicaState),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: Sequence[ReplicaState] = (),
        observers: Sequence[ReplicaState] = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.high_watermark = high_watermark
        self.current_voters = current_voters
        self.observers = observers


class ResponseTopicData(Message):
    __slots__ = ('topic_name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_name', 'string', ''),
        Field('partitions', 'struct', (), array=True, struct=ResponsePartitionData),
    )

    def __init__(
        self,
        topic_name: str = '',
        partitions: Sequence[ResponsePartitionData] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class Listener(Message):
    __slots__ = ('name', 'host', 'port')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=2),
        Field('host', 'string', '', since=2),
        Field('port', 'uint16', 0, since=2),
    )

    def __init__(
        self,
        name: str = '',
        host: str = '',
        port: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port


class Node(Message):
    __slots__ = ('node_id', 'listeners')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('node_id', 'int32', 0, since=2),
        Field('listeners', 'struct', (), array=True, struct=Listener, since=2),
    )

    def __init__(
        self,
        node_id: int = 0,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self.node_id = node_id
        self.listeners = listeners


class DescribeQuorumResponse(Message):
    __slots__ = ('error_code', 'error_message', 'topics', 'nodes')
    API_KEY: ClassVar[int] = 55
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', '', since=2, nullable_since=2),
        Field('topics', 'struct', (), array=True, struct=ResponseTopicData),
        Field('nodes', 'struct', (), array=True, struct=Node, since=2),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        topics: Sequence[ResponseTopicData] = (),
        nodes: Sequence[Node] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topics = topics
        self.nodes = nodes
