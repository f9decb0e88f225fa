"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class ConsumerGroupDescribeRequest(Message):
    __slots__ = ('group_ids', 'include_authorized_operations')
    API_KEY: ClassVar[int] = 69
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_ids', 'string', (), array=True),
        Field('include_authorized_operations', 'bool', False),
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
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO),
        Field('topic_name', 'string', ''),
        Field('partitions', 'int32', (), array=True),
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
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_partitions', 'struct', (), array=True, struct=TopicPartitions),
    )

    def __init__(
        self,
        topic_partitions: Sequence[TopicPartitions] = (),
    ) -> None:
        self.topic_partitions = topic_partitions


class Member(Message):
    __slots__ = ('member_id', 'instance_id', 'rack_id', 'member_epoch', 'client_id', 'client_host', 'subscribed_topic_names', 'subscribed_topic_regex', 'assignment', 'target_assignment', 'member_type')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('member_id', 'string', ''),
        Field('instance_id', 'string', None, nullable_since=0),
        Field('rack_id', 'string', None, nullable_since=0),
        Field('member_epoch', 'int32', 0),
        Field('client_id', 'string', ''),
        Field('client_host', 'string', ''),
        Field('subscribed_topic_names', 'string', (), array=True),
        Field('subscribed_topic_regex', 'string', None, nullable_since=0),
        Field('assignment', 'struct', None, struct=Assignment),
        Field('target_assignment', 'struct', None, struct=Assignment),
        Field('member_type', 'int8', -1, since=1),
    )

    def __init__(
        self,
        member_id: str = '',
        instance_id: str | None = None,
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = '',
        client_host: str = '',
        subscribed_topic_names: Sequence[str] = (),
        subscribed_topic_regex: str | None = None,
        assignment: Assignment | None = None,
        target_assignment: Assignment | None = None,
        member_type: int = -1,
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.assignment = assignment
        self.target_assignment = target_assignment
        self.member_type = member_type


class DescribedGroup(Message):
    __slots__ = ('error_code', 'error_message', 'group_id', 'group_state', 'group_epoch', 'assignment_epoch', 'assignor_name', 'members', 'authorized_operations')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', None, nullable_since=0),
        Field('group_id', 'string', ''),
        Field('group_state', 'string', ''),
        Field('group_epoch', 'int32', 0),
        Field('assignment_epoch', 'int32', 0),
        Field('assignor_name', 'string', ''),
        Field('members', 'struct', (), array=True, struct=Member),
        Field('authorized_operations', 'int32', -2147483648),
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


class ConsumerGroupDescribeResponse(Message):
    __slots__ = ('throttle_time_ms', 'groups')
    API_KEY: ClassVar[int] = 69
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('groups', 'struct', (), array=True, struct=DescribedGroup),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups
