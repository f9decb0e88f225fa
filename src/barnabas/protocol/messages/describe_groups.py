"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class DescribeGroupsRequest(Message):
    __slots__ = ('groups', 'include_authorized_operations')
    API_KEY: ClassVar[int] = 15
    FLEXIBLE_SINCE: ClassVar[int] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('groups', 'string', (), array=True),
        Field('include_authorized_operations', 'bool', False, since=3),
    )

    def __init__(
        self,
        groups: Sequence[str] = (),
        include_authorized_operations: bool = False,
    ) -> None:
        self.groups = groups
        self.include_authorized_operations = include_authorized_operations


class DescribedGroupMember(Message):
    __slots__ = ('member_id', 'group_instance_id', 'client_id', 'client_host', 'member_metadata', 'member_assignment')
    FLEXIBLE_SINCE: ClassVar[int] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('member_id', 'string', ''),
        Field('group_instance_id', 'string', None, since=4, nullable_since=4),
        Field('client_id', 'string', ''),
        Field('client_host', 'string', ''),
        Field('member_metadata', 'bytes', b''),
        Field('member_assignment', 'bytes', b''),
    )

    def __init__(
        self,
        member_id: str = '',
        group_instance_id: str | None = None,
        client_id: str = '',
        client_host: str = '',
        member_metadata: bytes = b'',
        member_assignment: bytes = b'',
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.member_metadata = member_metadata
        self.member_assignment = member_assignment


class DescribedGroup(Message):
    __slots__ = ('error_code', 'error_message', 'group_id', 'group_state', 'protocol_type', 'protocol_data', 'members', 'authorized_operations')
    FLEXIBLE_SINCE: ClassVar[int] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', None, since=6, nullable_since=6),
        Field('group_id', 'string', ''),
        Field('group_state', 'string', ''),
        Field('protocol_type', 'string', ''),
        Field('protocol_data', 'string', ''),
        Field('members', 'struct', (), array=True, struct=DescribedGroupMember),
        Field('authorized_operations', 'int32', -2147483648, since=3),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = '',
        group_state: str = '',
        protocol_type: str = '',
        protocol_data: str = '',
        members: Sequence[DescribedGroupMember] = (),
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.protocol_type = protocol_type
        self.protocol_data = protocol_data
        self.members = members
        self.authorized_operations = authorized_operations


class DescribeGroupsResponse(Message):
    __slots__ = ('throttle_time_ms', 'groups')
    API_KEY: ClassVar[int] = 15
    FLEXIBLE_SINCE: ClassVar[int] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('groups', 'struct', (), array=True, struct=DescribedGroup),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups
