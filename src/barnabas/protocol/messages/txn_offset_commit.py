"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class TxnOffsetCommitRequestPartition(Message):
    __slots__ = ('partition_index', 'committed_offset', 'committed_leader_epoch', 'committed_metadata')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0),
        Field('committed_offset', 'int64', 0),
        Field('committed_leader_epoch', 'int32', -1, since=2),
        Field('committed_metadata', 'string', '', nullable_since=0),
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = '',
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata


class TxnOffsetCommitRequestTopic(Message):
    __slots__ = ('name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('partitions', 'struct', (), array=True, struct=TxnOffsetCommitRequestPartition),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[TxnOffsetCommitRequestPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class TxnOffsetCommitRequest(Message):
    __slots__ = ('transactional_id', 'group_id', 'producer_id', 'producer_epoch', 'generation_id', 'member_id', 'group_instance_id', 'topics')
    API_KEY: ClassVar[int] = 28
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('transactional_id', 'string', ''),
        Field('group_id', 'string', ''),
        Field('producer_id', 'int64', 0),
        Field('producer_epoch', 'int16', 0),
        Field('generation_id', 'int32', -1, since=3),
        Field('member_id', 'string', '', since=3),
        Field('group_instance_id', 'string', None, since=3, nullable_since=3),
        Field('topics', 'struct', (), array=True, struct=TxnOffsetCommitRequestTopic),
    )

    def __init__(
        self,
        transactional_id: str = '',
        group_id: str = '',
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id: int = -1,
        member_id: str = '',
        group_instance_id: str | None = None,
        topics: Sequence[TxnOffsetCommitRequestTopic] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.group_id = group_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.topics = topics


class TxnOffsetCommitResponsePartition(Message):
    __slots__ = ('partition_index', 'error_code')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0),
        Field('error_code', 'int16', 0),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class TxnOffsetCommitResponseTopic(Message):
    __slots__ = ('name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('partitions', 'struct', (), array=True, struct=TxnOffsetCommitResponsePartition),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[TxnOffsetCommitResponsePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class TxnOffsetCommitResponse(Message):
    __slots__ = ('throttle_time_ms', 'topics')
    API_KEY: ClassVar[int] = 28
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('topics', 'struct', (), array=True, struct=TxnOffsetCommitResponseTopic),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[TxnOffsetCommitResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
