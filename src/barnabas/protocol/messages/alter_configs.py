"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class AlterableConfig(Message):
    __slots__ = ('name', 'value')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('value', 'string', '', nullable_since=0),
    )

    def __init__(
        self,
        name: str = '',
        value: str | None = '',
    ) -> None:
        self.name = name
        self.value = value


class AlterConfigsResource(Message):
    __slots__ = ('resource_type', 'resource_name', 'configs')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('resource_type', 'int8', 0),
        Field('resource_name', 'string', ''),
        Field('configs', 'struct', (), array=True, struct=AlterableConfig),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = '',
        configs: Sequence[AlterableConfig] = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = configs


class AlterConfigsRequest(Message):
    __slots__ = ('resources', 'validate_only')
    API_KEY: ClassVar[int] = 33
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('resources', 'struct', (), array=True, struct=AlterConfigsResource),
        Field('validate_only', 'bool', False),
    )

    def __init__(
        self,
        resources: Sequence[AlterConfigsResource] = (),
        validate_only: bool = False,
    ) -> None:
        self.resources = resources
        self.validate_only = validate_only


class AlterConfigsResourceResponse(Message):
    __slots__ = ('error_code', 'error_message', 'resource_type', 'resource_name')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', '', nullable_since=0),
        Field('resource_type', 'int8', 0),
        Field('resource_name', 'string', ''),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        resource_type: int = 0,
        resource_name: str = '',
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name


class AlterConfigsResponse(Message):
    __slots__ = ('throttle_time_ms', 'responses')
    API_KEY: ClassVar[int] = 33
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('responses', 'struct', (), array=True, struct=AlterConfigsResourceResponse),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: Sequence[AlterConfigsResourceResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = responses
