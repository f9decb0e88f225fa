"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class WritableTxnMarkerTopic(Message):
    __slots__ = ('name', 'partition_indexes')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=1),
        Field('partition_indexes', 'int32', (), array=True, since=1),
    )

    def __init__(
        self,
        name: str = '',
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partition_indexes = partition_indexes


class WritableTxnMarker(Message):
    __slots__ = ('producer_id', 'producer_epoch', 'transaction_result', 'topics', 'coordinator_epoch', 'transaction_version')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('producer_id', 'int64', 0, since=1),
        Field('producer_epoch', 'int16', 0, since=1),
        Field('transaction_result', 'bool', False, since=1),
        Field('topics', 'struct', (), array=True, struct=WritableTxnMarkerTopic, since=1),
        Field('coordinator_epoch', 'int32', 0, since=1),
        Field('transaction_version', 'int8', 0, since=2),
    )

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: Sequence[WritableTxnMarkerTopic] = (),
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_result = transaction_result
        self.topics = topics
        self.coordinator_epoch = coordinator_epoch
        self.transaction_version = transaction_version


class WriteTxnMarkersRequest(Message):
    __slots__ = ('markers',)
    API_KEY: ClassVar[int] = 27
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('markers', 'struct', (), array=True, struct=WritableTxnMarker, since=1),
    )

    def __init__(
        self,
        markers: Sequence[WritableTxnMarker] = (),
    ) -> None:
        self.markers = markers


class WritableTxnMarkerPartitionResult(Message):
    __slots__ = ('partition_index', 'error_code')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=1),
        Field('error_code', 'int16', 0, since=1),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class WritableTxnMarkerTopicResult(Message):
    __slots__ = ('name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=1),
        Field('partitions', 'struct', (), array=True, struct=WritableTxnMarkerPartitionResult, since=1),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[WritableTxnMarkerPartitionResult] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class WritableTxnMarkerResult(Message):
    __slots__ = ('producer_id', 'topics')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('producer_id', 'int64', 0, since=1),
        Field('topics', 'struct', (), array=True, struct=WritableTxnMarkerTopicResult, since=1),
    )

    def __init__(
        self,
        producer_id: int = 0,
        topics: Sequence[WritableTxnMarkerTopicResult] = (),
    ) -> None:
        self.producer_id = producer_id
        self.topics = topics


class WriteTxnMarkersResponse(Message):
    __slots__ = ('markers',)
    API_KEY: ClassVar[int] = 27
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('markers', 'struct', (), array=True, struct=WritableTxnMarkerResult, since=1),
    )

    def __init__(
        self,
        markers: Sequence[WritableTxnMarkerResult] = (),
    ) -> None:
        self.markers = markers
