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


class AcknowledgePartition(Message):
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


class AcknowledgeTopic(Message):
    __slots__ = ('topic_id', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=1),
        Field('partitions', 'struct', (), array=True, struct=AcknowledgePartition, since=1),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        partitions: Sequence[AcknowledgePartition] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ShareAcknowledgeRequest(Message):
    __slots__ = ('group_id', 'member_id', 'share_session_epoch', 'is_renew_ack', 'topics')
    API_KEY: ClassVar[int] = 79
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', None, since=1, nullable_since=1),
        Field('member_id', 'string', '', since=1, nullable_since=1),
        Field('share_session_epoch', 'int32', 0, since=1),
        Field('is_renew_ack', 'bool', False, since=2),
        Field('topics', 'struct', (), array=True, struct=AcknowledgeTopic, since=1),
    )

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = '',
        share_session_epoch: int = 0,
        is_renew_ack: bool = False,
        topics: Sequence[AcknowledgeTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.is_renew_ack = is_renew_ack
        self.topics = topics


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


class PartitionData(Message):
    __slots__ = ('partition_index', 'error_code', 'error_message', 'current_leader')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=1),
        Field('error_code', 'int16', 0, since=1),
        Field('error_message', 'string', None, since=1, nullable_since=1),
        Field('current_leader', 'struct', None, struct=LeaderIdAndEpoch, since=1),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.current_leader = current_leader


class ShareAcknowledgeTopicResponse(Message):
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


class ShareAcknowledgeResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'acquisition_lock_timeout_ms', 'responses', 'node_endpoints')
    API_KEY: ClassVar[int] = 79
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('error_code', 'int16', 0, since=1),
        Field('error_message', 'string', None, since=1, nullable_since=1),
        Field('acquisition_lock_timeout_ms', 'int32', 0, since=2),
        Field('responses', 'struct', (), array=True, struct=ShareAcknowledgeTopicResponse, since=1),
        Field('node_endpoints', 'struct', (), array=True, struct=NodeEndpoint, since=1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: Sequence[ShareAcknowledgeTopicResponse] = (),
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = responses
        self.node_endpoints = node_endpoints
