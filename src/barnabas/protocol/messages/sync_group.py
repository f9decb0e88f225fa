"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class SyncGroupRequestAssignment(Message):
    __slots__ = ('member_id', 'assignment')
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('member_id', 'string', ''),
        Field('assignment', 'bytes', b''),
    )

    def __init__(
        self,
        member_id: str = '',
        assignment: bytes = b'',
    ) -> None:
        self.member_id = member_id
        self.assignment = assignment


class SyncGroupRequest(Message):
    __slots__ = ('group_id', 'generation_id', 'member_id', 'group_instance_id', 'protocol_type', 'protocol_name', 'assignments')
    API_KEY: ClassVar[int] = 14
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', ''),
        Field('generation_id', 'int32', 0),
        Field('member_id', 'string', ''),
        Field('group_instance_id', 'string', None, since=3, nullable_since=3),
        Field('protocol_type', 'string', None, since=5, nullable_since=5),
        Field('protocol_name', 'string', None, since=5, nullable_since=5),
        Field('assignments', 'struct', (), array=True, struct=SyncGroupRequestAssignment),
    )

    def __init__(
        self,
        group_id: str = '',
        generation_id: int = 0,
        member_id: str = '',
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: Sequence[SyncGroupRequestAssignment] = (),
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignments = assignments


class SyncGroupResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'protocol_type', 'protocol_name', 'assignment')
    API_KEY: ClassVar[int] = 14
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('error_code', 'int16', 0),
        Field('protocol_type', 'string', None, since=5, nullable_since=5),
        Field('protocol_name', 'string', None, since=5, nullable_since=5),
        Field('assignment', 'bytes', b''),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: bytes = b'',
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignment = assignment
