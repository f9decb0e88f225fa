"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class ComponentData(Message):
    __slots__ = ('entity_type', 'match_type', 'match')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('entity_type', 'string', ''),
        Field('match_type', 'int8', 0),
        Field('match', 'string', '', nullable_since=0),
    )

    def __init__(
        self,
        entity_type: str = '',
        match_type: int = 0,
        match: str | None = '',
    ) -> None:
        self.entity_type = entity_type
        self.match_type = match_type
        self.match = match


class DescribeClientQuotasRequest(Message):
    __slots__ = ('components', 'strict')
    API_KEY: ClassVar[int] = 48
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('components', 'struct', (), array=True, struct=ComponentData),
        Field('strict', 'bool', False),
    )

    def __init__(
        self,
        components: Sequence[ComponentData] = (),
        strict: bool = False,
    ) -> None:
        self.components = components
        self.strict = strict


class EntityData(Message):
    __slots__ = ('entity_type', 'entity_name')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('entity_type', 'string', ''),
        Field('entity_name', 'string', '', nullable_since=0),
    )

    def __init__(
        self,
        entity_type: str = '',
        entity_name: str | None = '',
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name


class ValueData(Message):
    __slots__ = ('key', 'value')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('key', 'string', ''),
        Field('value', 'float64', 0.0),
    )

    def __init__(
        self,
        key: str = '',
        value: float = 0.0,
    ) -> None:
        self.key = key
        self.value = value


class EntryData(Message):
    __slots__ = ('entity', 'values')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('entity', 'struct', (), array=True, struct=EntityData),
        Field('values', 'struct', (), array=True, struct=ValueData),
    )

    def __init__(
        self,
        entity: Sequence[EntityData] = (),
        values: Sequence[ValueData] = (),
    ) -> None:
        self.entity = entity
        self.values = values


class DescribeClientQuotasResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'entries')
    API_KEY: ClassVar[int] = 48
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', '', nullable_since=0),
        Field('entries', 'struct', (), array=True, struct=EntryData, nullable_since=0),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
        entries: Sequence[EntryData] | None = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.entries = entries
