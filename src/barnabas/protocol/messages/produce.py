"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class PartitionProduceData(Message):
    __slots__ = ('index', 'records')
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('index', 'int32', 0, since=3),
        Field('records', 'records', None, since=3, nullable_since=3),
    )

    def __init__(
        self,
        index: int = 0,
        records: Buffer | FileSlice | None = None,
    ) -> None:
        self.index = index
        self.records = records


class TopicProduceData(Message):
    __slots__ = ('topic_id', 'name', 'partition_data')
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=13),
        Field('name', 'string', '', since=3, until=12),
        Field('partition_data', 'struct', (), array=True, struct=PartitionProduceData, since=3),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        name: str = '',
        partition_data: Sequence[PartitionProduceData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.name = name
        self.partition_data = partition_data


class ProduceRequest(Message):
    __slots__ = ('transactional_id', 'acks', 'timeout_ms', 'topic_data')
    API_KEY: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('transactional_id', 'string', None, since=3, nullable_since=3),
        Field('acks', 'int16', 0, since=3),
        Field('timeout_ms', 'int32', 0, since=3),
        Field('topic_data', 'struct', (), array=True, struct=TopicProduceData, since=3),
    )

    def __init__(
        self,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: Sequence[TopicProduceData] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.topic_data = topic_data


class BatchIndexAndErrorMessage(Message):
    __slots__ = ('batch_index', 'batch_index_error_message')
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('batch_index', 'int32', 0, since=8),
        Field('batch_index_error_message', 'string', None, since=8, nullable_since=8),
    )

    def __init__(
        self,
        batch_index: int = 0,
        batch_index_error_message: str | None = None,
    ) -> None:
        self.batch_index = batch_index
        self.batch_index_error_message = batch_index_error_message


class LeaderIdAndEpoch(Message):
    __slots__ = ('leader_id', 'leader_epoch')
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('leader_id', 'int32', -1, since=10),
        Field('leader_epoch', 'int32', -1, since=10),
    )

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class PartitionProduceResponse(Message):
    __slots__ = ('index', 'error_code', 'base_offset', 'log_append_time_ms', 'log_start_offset', 'record_errors', 'error_message', 'current_leader')
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('index', 'int32', 0, since=3),
        Field('error_code', 'int16', 0, since=3),
        Field('base_offset', 'int64', 0, since=3),
        Field('log_append_time_ms', 'int64', -1, since=3),
        Field('log_start_offset', 'int64', -1, since=5),
        Field('record_errors', 'struct', (), array=True, struct=BatchIndexAndErrorMessage, since=8),
        Field('error_message', 'string', None, since=8, nullable_since=8),
        Field('current_leader', 'struct', None, struct=LeaderIdAndEpoch, since=10, tag=0, tag_since=10),
    )

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        record_errors: Sequence[BatchIndexAndErrorMessage] = (),
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.record_errors = record_errors
        self.error_message = error_message
        self.current_leader = current_leader


class TopicProduceResponse(Message):
    __slots__ = ('topic_id', 'name', 'partition_responses')
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=13),
        Field('name', 'string', '', since=3, until=12),
        Field('partition_responses', 'struct', (), array=True, struct=PartitionProduceResponse, since=3),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        name: str = '',
        partition_responses: Sequence[PartitionProduceResponse] = (),
    ) -> None:
        self.topic_id = topic_id
        self.name = name
        self.partition_responses = partition_responses


class NodeEndpoint(Message):
    __slots__ = ('node_id', 'host', 'port', 'rack')
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('node_id', 'int32', 0, since=10),
        Field('host', 'string', '', since=10),
        Field('port', 'int32', 0, since=10),
        Field('rack', 'string', None, since=10, nullable_since=10),
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


class ProduceResponse(Message):
    __slots__ = ('responses', 'throttle_time_ms', 'node_endpoints')
    API_KEY: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('responses', 'struct', (), array=True, struct=TopicProduceResponse, since=3),
        Field('throttle_time_ms', 'int32', 0, since=3),
        Field('node_endpoints', 'struct', (), array=True, struct=NodeEndpoint, since=10, tag=0, tag_since=10),
    )

    def __init__(
        self,
        responses: Sequence[TopicProduceResponse] = (),
        throttle_time_ms: int = 0,
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.responses = responses
        self.throttle_time_ms = throttle_time_ms
        self.node_endpoints = node_endpoints
