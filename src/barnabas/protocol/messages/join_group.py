"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class JoinGroupRequestProtocol(Message):
    __slots__ = ('name', 'metadata')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('metadata', 'bytes', b''),
    )

    def __init__(
        self,
        name: str = '',
        metadata: bytes = b'',
    ) -> None:
        self.name = name
        self.metadata = metadata


class JoinGroupRequest(Message):
    __slots__ = ('group_id', 'session_timeout_ms', 'rebalance_timeout_ms', 'member_id', 'group_instance_id', 'protocol_type', 'protocols', 'reason')
    API_KEY: ClassVar[int] = 11
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', ''),
        Field('session_timeout_ms', 'int32', 0),
        Field('rebalance_timeout_ms', 'int32', -1, since=1),
        Field('member_id', 'string', ''),
        Field('group_instance_id', 'string', None, since=5, nullable_since=5),
        Field('protocol_type', 'string', ''),
        Field('protocols', 'struct', (), array=True, struct=JoinGroupRequestProtocol),
        Field('reason', 'string', None, since=8, nullable_since=8),
    )

    def __init__(
        self,
        group_id: str = '',
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = '',
        group_instance_id: str | None = None,
        protocol_type: str = '',
        protocols: Sequence[JoinGroupRequestProtocol] = (),
        reason: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocols = protocols
        self.reason = reason


class JoinGroupResponseMember(Message):
    __slots__ = ('member_id', 'group_instance_id', 'metadata')
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('member_id', 'string', ''),
        Field('group_instance_id', 'string', None, since=5, nullable_since=5),
        Field('metadata', 'bytes', b''),
    )

    def __init__(
        self,
        member_id: str = '',
        group_instance_id: str | None = None,
        metadata: bytes = b'',
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.metadata = metadata


class JoinGroupResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'generation_id', 'protocol_type', 'protocol_name', 'leader', 'skip_assignment', 'member_id', 'members')
    API_KEY: ClassVar[int] = 11
    FLEXIBLE_SINCE: ClassVar[int] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=2),
        Field('error_code', 'int16', 0),
        Field('generation_id', 'int32', -1),
        Field('protocol_type', 'string', None, since=7, nullable_since=7),
        Field('protocol_name', 'string', '', nullable_since=7),
        Field('leader', 'string', ''),
        Field('skip_assignment', 'bool', False, since=9),
        Field('member_id', 'string', ''),
        Field('members', 'struct', (), array=True, struct=JoinGroupResponseMember),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = '',
        leader: str = '',
        skip_assignment: bool = False,
        member_id: str = '',
        members: Sequence[JoinGroupResponseMember] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.generation_id = generation_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.leader = leader
        self.skip_assignment = skip_assignment
        self.member_id = member_id
        self.members = members
