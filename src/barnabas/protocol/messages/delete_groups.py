"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class DeleteGroupsRequest(Message):
    __slots__ = ('groups_names',)
    API_KEY: ClassVar[int] = 42
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('groups_names', 'string', (), array=True),
    )

    def __init__(
        self,
        groups_names: Sequence[str] = (),
    ) -> None:
        self.groups_names = groups_names


class DeletableGroupResult(Message):
    __slots__ = ('group_id', 'error_code')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', ''),
        Field('error_code', 'int16', 0),
    )

    def __init__(
        self,
        group_id: str = '',
        error_code: int = 0,
    ) -> None:
        self.group_id = group_id
        self.error_code = error_code


class DeleteGroupsResponse(Message):
    __slots__ = ('throttle_time_ms', 'results')
    API_KEY: ClassVar[int] = 42
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('results', 'struct', (), array=True, struct=DeletableGroupResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[DeletableGroupResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
