"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


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


class OpData(Message):
    __slots__ = ('key', 'value', 'remove')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('key', 'string', ''),
        Field('value', 'float64', 0.0),
        Field('remove', 'bool', False),
    )

    def __init__(
        self,
        key: str = '',
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.key = key
        self.value = value
        self.remove = remove


class EntryData(Message):
    __slots__ = ('entity', 'ops')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('entity', 'struct', (), array=True, struct=EntityData),
        Field('ops', 'struct', (), array=True, struct=OpData),
    )

    def __init__(
        self,
        entity: Sequence[EntityData] = (),
        ops: Sequence[OpData] = (),
    ) -> None:
        self.entity = entity
        self.ops = ops


class AlterClientQuotasRequest(Message):
    __slots__ = ('entries', 'validate_only')
    API_KEY: ClassVar[int] = 49
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('entries', 'struct', (), array=True, struct=EntryData),
        Field('validate_only', 'bool', False),
    )

    def __init__(
        self,
        entries: Sequence[EntryData] = (),
        validate_only: bool = False,
    ) -> None:
        self.entries = entries
        self.validate_only = validate_only


class ResponseEntityData(Message):
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


class ResponseEntryData(Message):
    __slots__ = ('error_code', 'error_message', 'entity')
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', '', nullable_since=0),
        Field('entity', 'struct', (), array=True, struct=ResponseEntityData),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        entity: Sequence[ResponseEntityData] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.entity = entity


class AlterClientQuotasResponse(Message):
    __slots__ = ('throttle_time_ms', 'entries')
    API_KEY: ClassVar[int] = 49
    FLEXIBLE_SINCE: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('entries', 'struct', (), array=True, struct=ResponseEntryData),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        entries: Sequence[ResponseEntryData] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.entries = entries
