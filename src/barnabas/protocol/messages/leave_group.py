"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class MemberIdentity(Message):
    __slots__ = ('member_id', 'group_instance_id', 'reason')
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('member_id', 'string', '', since=3),
        Field('group_instance_id', 'string', None, since=3, nullable_since=3),
        Field('reason', 'string', None, since=5, nullable_since=5),
    )

    def __init__(
        self,
        member_id: str = '',
        group_instance_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.reason = reason


class LeaveGroupRequest(Message):
    __slots__ = ('group_id', 'members', 'member_id')
    API_KEY: ClassVar[int] = 13
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', ''),
        Field('members', 'struct', (), array=True, struct=MemberIdentity, since=3),
        Field('member_id', 'string', '', until=2),
    )

    def __init__(
        self,
        group_id: str = '',
        members: Sequence[MemberIdentity] = (),
        member_id: str = '',
    ) -> None:
        self.group_id = group_id
        self.members = members
        self.member_id = member_id


class MemberResponse(Message):
    __slots__ = ('member_id', 'group_instance_id', 'error_code')
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('member_id', 'string', '', since=3),
        Field('group_instance_id', 'string', '', since=3, nullable_since=3),
        Field('error_code', 'int16', 0, since=3),
    )

    def __init__(
        self,
        member_id: str = '',
        group_instance_id: str | None = '',
        error_code: int = 0,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.error_code = error_code


class LeaveGroupResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'members')
    API_KEY: ClassVar[int] = 13
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('error_code', 'int16', 0),
        Field('members', 'struct', (), array=True, struct=MemberResponse, since=3),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: Sequence[MemberResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.members = members
