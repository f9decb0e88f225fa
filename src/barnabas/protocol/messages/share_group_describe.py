"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class ShareGroupDescribeRequest(Message):
    __slots__ = ('group_ids', 'include_authorized_operations')
    API_KEY: ClassVar[int] = 77
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_ids', 'string', (), array=True, since=1),
        Field('include_authorized_operations', 'bool', False, since=1),
    )

    def __init__(
        self,
        group_ids: Sequence[str] = (),
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids = group_ids
        self.include_authorized_operations = include_authorized_operations


class TopicPartitions(Message):
    __slots__ = ('topic_id', 'topic_name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=1),
        Field('topic_name', 'string', '', since=1),
        Field('partitions', 'int32', (), array=True, since=1),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        topic_name: str = '',
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
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


class Member(Message):
    __slots__ = ('member_id', 'rack_id', 'member_epoch', 'client_id', 'client_host', 'subscribed_topic_names', 'assignment')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('member_id', 'string', '', since=1),
        Field('rack_id', 'string', None, since=1, nullable_since=1),
        Field('member_epoch', 'int32', 0, since=1),
        Field('client_id', 'string', '', since=1),
        Field('client_host', 'string', '', since=1),
        Field('subscribed_topic_names', 'string', (), array=True, since=1),
        Field('assignment', 'struct', None, struct=Assignment, since=1),
    )

    def __init__(
        self,
        member_id: str = '',
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = '',
        client_host: str = '',
        subscribed_topic_names: Sequence[str] = (),
        assignment: Assignment | None = None,
    ) -> None:
        self.member_id = member_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = subscribed_topic_names
        self.assignment = assignment


class DescribedGroup(Message):
    __slots__ = ('error_code', 'error_message', 'group_id', 'group_state', 'group_epoch', 'assignment_epoch', 'assignor_name', 'members', 'authorized_operations')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0, since=1),
        Field('error_message', 'string', None, since=1, nullable_since=1),
        Field('group_id', 'string', '', since=1),
        Field('group_state', 'string', '', since=1),
        Field('group_epoch', 'int32', 0, since=1),
        Field('assignment_epoch', 'int32', 0, since=1),
        Field('assignor_name', 'string', '', since=1),
        Field('members', 'struct', (), array=True, struct=Member, since=1),
        Field('authorized_operations', 'int32', -2147483648, since=1),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = '',
        group_state: str = '',
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        assignor_name: str = '',
        members: Sequence[Member] = (),
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.assignor_name = assignor_name
        self.members = members
        self.authorized_operations = authorized_operations


class ShareGroupDescribeResponse(Message):
    __slots__ = ('throttle_time_ms', 'groups')
    API_KEY: ClassVar[int] = 77
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('groups', 'struct', (), array=True, struct=DescribedGroup, since=1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups
