"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class AclCreation(Message):
    __slots__ = ('resource_type', 'resource_name', 'resource_pattern_type', 'principal', 'host', 'operation', 'permission_type')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('resource_type', 'int8', 0, since=1),
        Field('resource_name', 'string', '', since=1),
        Field('resource_pattern_type', 'int8', 3, since=1),
        Field('principal', 'string', '', since=1),
        Field('host', 'string', '', since=1),
        Field('operation', 'int8', 0, since=1),
        Field('permission_type', 'int8', 0, since=1),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = '',
        resource_pattern_type: int = 3,
        principal: str = '',
        host: str = '',
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.resource_pattern_type = resource_pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


class CreateAclsRequest(Message):
    __slots__ = ('creations',)
    API_KEY: ClassVar[int] = 30
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('creations', 'struct', (), array=True, struct=AclCreation, since=1),
    )

    def __init__(
        self,
        creations: Sequence[AclCreation] = (),
    ) -> None:
        self.creations = creations


class AclCreationResult(Message):
    __slots__ = ('error_code', 'error_message')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0, since=1),
        Field('error_message', 'string', '', since=1, nullable_since=1),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message


class CreateAclsResponse(Message):
    __slots__ = ('throttle_time_ms', 'results')
    API_KEY: ClassVar[int] = 30
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('results', 'struct', (), array=True, struct=AclCreationResult, since=1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[AclCreationResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
