"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class TopicPartitions(Message):
    __slots__ = ('topic_id', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO),
        Field('partitions', 'int32', (), array=True),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ConsumerGroupHeartbeatRequest(Message):
    __slots__ = ('group_id', 'member_id', 'member_epoch', 'instance_id', 'rack_id', 'rebalance_timeout_ms', 'subscribed_topic_names', 'subscribed_topic_regex', 'server_assignor', 'topic_partitions')
    API_KEY: ClassVar[int] = 68
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', ''),
        Field('member_id', 'string', ''),
        Field('member_epoch', 'int32', 0),
        Field('instance_id', 'string', None, nullable_since=0),
        Field('rack_id', 'string', None, nullable_since=0),
        Field('rebalance_timeout_ms', 'int32', -1),
        Field('subscribed_topic_names', 'string', None, array=True, nullable_since=0),
        Field('subscribed_topic_regex', 'string', None, since=1, nullable_since=1),
        Field('server_assignor', 'string', None, nullable_since=0),
        Field('topic_partitions', 'struct', (), array=True, struct=TopicPartitions, nullable_since=0),
    )

    def __init__(
        self,
        group_id: str = '',
        member_id: str = '',
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        subscribed_topic_names: Sequence[str] | None = None,
        subscribed_topic_regex: str | None = None,
        server_assignor: str | None = None,
        topic_partitions: Sequence[TopicPartitions] | None = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.server_assignor = server_assignor
        self.topic_partitions = topic_partitions


class ResponseTopicPartitions(Message):
    __slots__ = ('topic_id', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO),
        Field('partitions', 'int32', (), array=True),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class Assignment(Message):
    __slots__ = ('topic_partitions',)
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_partitions', 'struct', (), array=True, struct=ResponseTopicPartitions),
    )

    def __init__(
        self,
        topic_partitions: Sequence[ResponseTopicPartitions] = (),
    ) -> None:
        self.topic_partitions = topic_partitions


class ConsumerGroupHeartbeatResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'member_id', 'member_epoch', 'heartbeat_interval_ms', 'assignment')
    API_KEY: ClassVar[int] = 68
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', None, nullable_since=0),
        Field('member_id', 'string', None, nullable_since=0),
        Field('member_epoch', 'int32', 0),
        Field('heartbeat_interval_ms', 'int32', 0),
        Field('assignment', 'struct', None, struct=Assignment, nullable_since=0),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: Assignment | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.assignment = assignment
