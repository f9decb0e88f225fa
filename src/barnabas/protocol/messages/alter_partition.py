"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class BrokerState(Message):
    __slots__ = ('broker_id', 'broker_epoch')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('broker_id', 'int32', 0, since=3),
        Field('broker_epoch', 'int64', -1, since=3),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch


class PartitionData(Message):
    __slots__ = ('partition_index', 'leader_epoch', 'new_isr_with_epochs', 'new_isr', 'leader_recovery_state', 'partition_epoch')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=2),
        Field('leader_epoch', 'int32', 0, since=2),
        Field('new_isr_with_epochs', 'struct', (), array=True, struct=BrokerState, since=3),
        Field('new_isr', 'int32', (), array=True, since=2, until=2),
        Field('leader_recovery_state', 'int8', 0, since=2),
        Field('partition_epoch', 'int32', 0, since=2),
    )

    def __init__(
        self,
        partition_index: int = 0,
        leader_epoch: int = 0,
        new_isr_with_epochs: Sequence[BrokerState] = (),
        new_isr: Sequence[int] = (),
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.new_isr_with_epochs = new_isr_with_epochs
        self.new_isr = new_isr
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch


class TopicData(Message):
    __slots__ = ('topic_id', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=2),
        Field('partitions', 'struct', (), array=True, struct=PartitionData, since=2),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class AlterPartitionRequest(Message):
    __slots__ = ('broker_id', 'broker_epoch', 'topics')
    API_KEY: ClassVar[int] = 56
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('broker_id', 'int32', 0, since=2),
        Field('broker_epoch', 'int64', -1, since=2),
        Field('topics', 'struct', (), array=True, struct=TopicData, since=2),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.topics = topics


class ResponsePartitionData(Message):
    __slots__ = ('partition_index', 'error_code', 'leader_id', 'leader_epoch', 'isr', 'leader_recovery_state', 'partition_epoch')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=2),
        Field('error_code', 'int16', 0, since=2),
        Field('leader_id', 'int32', 0, since=2),
        Field('leader_epoch', 'int32', 0, since=2),
        Field('isr', 'int32', (), array=True, since=2),
        Field('leader_recovery_state', 'int8', 0, since=2),
        Field('partition_epoch', 'int32', 0, since=2),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        isr: Sequence[int] = (),
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.isr = isr
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch


class ResponseTopicData(Message):
    __slots__ = ('topic_id', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=2),
        Field('partitions', 'struct', (), array=True, struct=ResponsePartitionData, since=2),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        partitions: Sequence[ResponsePartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class AlterPartitionResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'topics')
    API_KEY: ClassVar[int] = 56
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=2),
        Field('error_code', 'int16', 0, since=2),
        Field('topics', 'struct', (), array=True, struct=ResponseTopicData, since=2),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: Sequence[ResponseTopicData] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = topics
