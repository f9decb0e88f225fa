"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class TopicRequest(Message):
    __slots__ = ('name', 'partition_indexes')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('partition_indexes', 'int32', (), array=True),
    )

    def __init__(
        self,
        name: str = '',
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partition_indexes = partition_indexes


class DescribeProducersRequest(Message):
    __slots__ = ('topics',)
    API_KEY: ClassVar[int] = 61
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topics', 'struct', (), array=True, struct=TopicRequest),
    )

    def __init__(
        self,
        topics: Sequence[TopicRequest] = (),
    ) -> None:
        self.topics = topics


class ProducerState(Message):
    __slots__ = ('producer_id', 'producer_epoch', 'last_sequence', 'last_timestamp', 'coordinator_epoch', 'current_txn_start_offset')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('producer_id', 'int64', 0),
        Field('producer_epoch', 'int32', 0),
        Field('last_sequence', 'int32', -1),
        Field('last_timestamp', 'int64', -1),
        Field('coordinator_epoch', 'int32', 0),
        Field('current_txn_start_offset', 'int64', -1),
    )

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        last_sequence: int = -1,
        last_timestamp: int = -1,
        coordinator_epoch: int = 0,
        current_txn_start_offset: int = -1,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.last_sequence = last_sequence
        self.last_timestamp = last_timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_start_offset = current_txn_start_offset


class PartitionResponse(Message):
    __slots__ = ('partition_index', 'error_code', 'error_message', 'active_producers')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', None, nullable_since=0),
        Field('active_producers', 'struct', (), array=True, struct=ProducerState),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        active_producers: Sequence[ProducerState] = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.active_producers = active_producers


class TopicResponse(Message):
    __slots__ = ('name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('partitions', 'struct', (), array=True, struct=PartitionResponse),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[PartitionResponse] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class DescribeProducersResponse(Message):
    __slots__ = ('throttle_time_ms', 'topics')
    API_KEY: ClassVar[int] = 61
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('topics', 'struct', (), array=True, struct=TopicResponse),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[TopicResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
