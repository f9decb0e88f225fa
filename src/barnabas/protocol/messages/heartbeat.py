"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class HeartbeatRequest(Message):
    __slots__ = ('group_id', 'generation_id', 'member_id', 'group_instance_id')
    API_KEY: ClassVar[int] = 12
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', ''),
        Field('generation_id', 'int32', 0),
        Field('member_id', 'string', ''),
        Field('group_instance_id', 'string', None, since=3, nullable_since=3),
    )

    def __init__(
        self,
        group_id: str = '',
        generation_id: int = 0,
        member_id: str = '',
        group_instance_id: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id


class HeartbeatResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code')
    API_KEY: ClassVar[int] = 12
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('error_code', 'int16', 0),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
