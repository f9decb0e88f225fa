"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class ListGroupsRequest(Message):
    __slots__ = ('states_filter', 'types_filter')
    API_KEY: ClassVar[int] = 16
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('states_filter', 'string', (), array=True, since=4),
        Field('types_filter', 'string', (), array=True, since=5),
    )

    def __init__(
        self,
        states_filter: Sequence[str] = (),
        types_filter: Sequence[str] = (),
    ) -> None:
        self.states_filter = states_filter
        self.types_filter = types_filter


class ListedGroup(Message):
    __slots__ = ('group_id', 'protocol_type', 'group_state', 'group_type')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', ''),
        Field('protocol_type', 'string', ''),
        Field('group_state', 'string', '', since=4),
        Field('group_type', 'string', '', since=5),
    )

    def __init__(
        self,
        group_id: str = '',
        protocol_type: str = '',
        group_state: str = '',
        group_type: str = '',
    ) -> None:
        self.group_id = group_id
        self.protocol_type = protocol_type
        self.group_state = group_state
        self.group_type = group_type


class ListGroupsResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'groups')
    API_KEY: ClassVar[int] = 16
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('error_code', 'int16', 0),
        Field('groups', 'struct', (), array=True, struct=ListedGroup),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: Sequence[ListedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.groups = groups
