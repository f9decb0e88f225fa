"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class AcknowledgementBatch(Message):
    __slots__ = ('first_offset', 'last_offset', 'acknowledge_types')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('first_offset', 'int64', 0, since=1),
        Field('last_offset', 'int64', 0, since=1),
        Field('acknowledge_types', 'int8', (), array=True, since=1),
    )

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        acknowledge_types: Sequence[int] = (),
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.acknowledge_types = acknowledge_types


class FetchPartition(Message):
    __slots__ = ('partition_index', 'acknowledgement_batches')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=1),
        Field('acknowledgement_batches', 'struct', (), array=True, struct=AcknowledgementBatch, since=1),
    )

    def __init__(
        self,
        partition_index: int = 0,
        acknowledgement_batches: Sequence[AcknowledgementBatch] = (),
    ) -> None:
        self.partition_index = partition_index
        self.acknowledgement_batches = acknowledgement_batches


class FetchTopic(Message):
    __slots__ = ('topic_id', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=1),
        Field('partitions', 'struct', (), array=True, struct=FetchPartition, since=1),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        partitions: Sequence[FetchPartition] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ForgottenTopic(Message):
    __slots__ = ('topic_id', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=1),
        Field('partitions', 'int32', (), array=True, since=1),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ShareFetchRequest(Message):
    __slots__ = ('group_id', 'member_id', 'share_session_epoch', 'max_wait_ms', 'min_bytes', 'max_bytes', 'max_records', 'batch_size', 'share_acquire_mode', 'is_renew_ack', 'topics', 'forgotten_topics_data')
    API_KEY: ClassVar[int] = 78
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', None, since=1, nullable_since=1),
        Field('member_id', 'string', '', since=1, nullable_since=1),
        Field('share_session_epoch', 'int32', 0, since=1),
        Field('max_wait_ms', 'int32', 0, since=1),
        Field('min_bytes', 'int32', 0, since=1),
        Field('max_bytes', 'int32', 2147483647, since=1),
        Field('max_records', 'int32', 0, since=1),
        Field('batch_size', 'int32', 0, since=1),
        Field('share_acquire_mode', 'int8', 0, since=2),
        Field('is_renew_ack', 'bool', False, since=2),
        Field('topics', 'struct', (), array=True, struct=FetchTopic, since=1),
        Field('forgotten_topics_data', 'struct', (), array=True, struct=ForgottenTopic, since=1),
    )

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = '',
        share_session_epoch: int = 0,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        max_records: int = 0,
        batch_size: int = 0,
        share_acquire_mode: int = 0,
        is_renew_ack: bool = False,
        topics: Sequence[FetchTopic] = (),
        forgotten_topics_data: Sequence[ForgottenTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.max_records = max_records
        self.batch_size = batch_size
        self.share_acquire_mode = share_acquire_mode
        self.is_renew_ack = is_renew_ack
        self.topics = topics
        self.forgotten_topics_data = forgotten_topics_data


class LeaderIdAndEpoch(Message):
    __slots__ = ('leader_id', 'leader_epoch')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('leader_id', 'int32', 0, since=1),
        Field('leader_epoch', 'int32', 0, since=1),
    )

    def __init__(
        self,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class AcquiredRecords(Message):
    __slots__ = ('first_offset', 'last_offset', 'delivery_count')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('first_offset', 'int64', 0, since=1),
        Field('last_offset', 'int64', 0, since=1),
        Field('delivery_count', 'int16', 0, since=1),
    )

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_count = delivery_count


class PartitionData(Message):
    __slots__ = ('partition_index', 'error_code', 'error_message', 'acknowledge_error_code', 'acknowledge_error_message', 'current_leader', 'records', 'acquired_records')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=1),
        Field('error_code', 'int16', 0, since=1),
        Field('error_message', 'string', None, since=1, nullable_since=1),
        Field('acknowledge_error_code', 'int16', 0, since=1),
        Field('acknowledge_error_message', 'string', None, since=1, nullable_since=1),
        Field('current_leader', 'struct', None, struct=LeaderIdAndEpoch, since=1),
        Field('records', 'records', None, since=1),
        Field('acquired_records', 'struct', (), array=True, struct=AcquiredRecords, since=1),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acknowledge_error_code: int = 0,
        acknowledge_error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        records: Buffer | FileSlice | None = None,
        acquired_records: Sequence[AcquiredRecords] = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.acknowledge_error_code = acknowledge_error_code
        self.acknowledge_error_message = acknowledge_error_message
        self.current_leader = current_leader
        self.records = records
        self.acquired_records = acquired_records


class ShareFetchableTopicResponse(Message):
    __slots__ = ('topic_id', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=1),
        Field('partitions', 'struct', (), array=True, struct=PartitionData, since=1),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class NodeEndpoint(Message):
    __slots__ = ('node_id', 'host', 'port', 'rack')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('node_id', 'int32', 0, since=1),
        Field('host', 'string', '', since=1),
        Field('port', 'int32', 0, since=1),
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


class ShareFetchResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'acquisition_lock_timeout_ms', 'responses', 'node_endpoints')
    API_KEY: ClassVar[int] = 78
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('error_code', 'int16', 0, since=1),
        Field('error_message', 'string', None, since=1, nullable_since=1),
        Field('acquisition_lock_timeout_ms', 'int32', 0, since=1),
        Field('responses', 'struct', (), array=True, struct=ShareFetchableTopicResponse, since=1),
        Field('node_endpoints', 'struct', (), array=True, struct=NodeEndpoint, since=1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: Sequence[ShareFetchableTopicResponse] = (),
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = responses
        self.node_endpoints = node_endpoints
