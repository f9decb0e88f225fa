"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class ListConfigResourcesRequest(Message):
    __slots__ = ('resource_types',)
    API_KEY: ClassVar[int] = 74
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('resource_types', 'int8', (), array=True, since=1),
    )

    def __init__(
        self,
        resource_types: Sequence[int] = (),
    ) -> None:
        self.resource_types = resource_types


class ConfigResource(Message):
    __slots__ = ('resource_name', 'resource_type')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('resource_name', 'string', ''),
        Field('resource_type', 'int8', 16, since=1),
    )

    def __init__(
        self,
        resource_name: str = '',
        resource_type: int = 16,
    ) -> None:
        self.resource_name = resource_name
        self.resource_type = resource_type


class ListConfigResourcesResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'config_resources')
    API_KEY: ClassVar[int] = 74
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('config_resources', 'struct', (), array=True, struct=ConfigResource),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: Sequence[ConfigResource] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.config_resources = config_resources
