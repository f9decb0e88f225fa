"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class DescribeAclsRequest(Message):
    __slots__ = ('resource_type_filter', 'resource_name_filter', 'pattern_type_filter', 'principal_filter', 'host_filter', 'operation', 'permission_type')
    API_KEY: ClassVar[int] = 29
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('resource_type_filter', 'int8', 0, since=1),
        Field('resource_name_filter', 'string', '', since=1, nullable_since=1),
        Field('pattern_type_filter', 'int8', 3, since=1),
        Field('principal_filter', 'string', '', since=1, nullable_since=1),
        Field('host_filter', 'string', '', since=1, nullable_since=1),
        Field('operation', 'int8', 0, since=1),
        Field('permission_type', 'int8', 0, since=1),
    )

    def __init__(
        self,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = '',
        pattern_type_filter: int = 3,
        principal_filter: str | None = '',
        host_filter: str | None = '',
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type_filter = resource_type_filter
        self.resource_name_filter = resource_name_filter
        self.pattern_type_filter = pattern_type_filter
        self.principal_filter = principal_filter
        self.host_filter = host_filter
        self.operation = operation
        self.permission_type = permission_type


class AclDescription(Message):
    __slots__ = ('principal', 'host', 'operation', 'permission_type')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('principal', 'string', '', since=1),
        Field('host', 'string', '', since=1),
        Field('operation', 'int8', 0, since=1),
        Field('permission_type', 'int8', 0, since=1),
    )

    def __init__(
        self,
        principal: str = '',
        host: str = '',
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


class DescribeAclsResource(Message):
    __slots__ = ('resource_type', 'resource_name', 'pattern_type', 'acls')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('resource_type', 'int8', 0, since=1),
        Field('resource_name', 'string', '', since=1),
        Field('pattern_type', 'int8', 3, since=1),
        Field('acls', 'struct', (), array=True, struct=AclDescription, since=1),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = '',
        pattern_type: int = 3,
        acls: Sequence[AclDescription] = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.acls = acls


class DescribeAclsResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'resources')
    API_KEY: ClassVar[int] = 29
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('error_code', 'int16', 0, since=1),
        Field('error_message', 'string', '', since=1, nullable_since=1),
        Field('resources', 'struct', (), array=True, struct=DescribeAclsResource, since=1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
        resources: Sequence[DescribeAclsResource] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.resources = resources
