"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class ShareGroupHeartbeatRequest(Message):
    __slots__ = ('group_id', 'member_id', 'member_epoch', 'rack_id', 'subscribed_topic_names')
    API_KEY: ClassVar[int] = 76
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', '', since=1),
        Field('member_id', 'string', '', since=1),
        Field('member_epoch', 'int32', 0, since=1),
        Field('rack_id', 'string', None, since=1, nullable_since=1),
        Field('subscribed_topic_names', 'string', None, array=True, since=1, nullable_since=1),
    )

    def __init__(
        self,
        group_id: str = '',
        member_id: str = '',
        member_epoch: int = 0,
        rack_id: str | None = None,
        subscribed_topic_names: Sequence[str] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.rack_id = rack_id
        self.subscribed_topic_names = subscribed_topic_names


class TopicPartitions(Message):
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


class Assignment(Message):
    __slots__ = ('topic_partitions',)
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_partitions', 'struct', (), array=True, struct=TopicPartitions, since=1),
    )

    def __init__(
        self,
        topic_partitions: Sequence[TopicPartitions] = (),
    ) -> None:
        self.topic_partitions = topic_partitions


class ShareGroupHeartbeatResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'member_id', 'member_epoch', 'heartbeat_interval_ms', 'assignment')
    API_KEY: ClassVar[int] = 76
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('error_code', 'int16', 0, since=1),
        Field('error_message', 'string', None, since=1, nullable_since=1),
        Field('member_id', 'string', None, since=1, nullable_since=1),
        Field('member_epoch', 'int32', 0, since=1),
        Field('heartbeat_interval_ms', 'int32', 0, since=1),
        Field('assignment', 'struct', None, struct=Assignment, since=1, nullable_since=1),
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
