"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class DeleteAclsFilter(Message):
    __slots__ = ('resource_type_filter', 'resource_name_filter', 'pattern_type_filter', 'principal_filter', 'host_filter', 'operation', 'permission_type')
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


class DeleteAclsRequest(Message):
    __slots__ = ('filters',)
    API_KEY: ClassVar[int] = 31
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('filters', 'struct', (), array=True, struct=DeleteAclsFilter, since=1),
    )

    def __init__(
        self,
        filters: Sequence[DeleteAclsFilter] = (),
    ) -> None:
        self.filters = filters


class DeleteAclsMatchingAcl(Message):
    __slots__ = ('error_code', 'error_message', 'resource_type', 'resource_name', 'pattern_type', 'principal', 'host', 'operation', 'permission_type')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0, since=1),
        Field('error_message', 'string', '', since=1, nullable_since=1),
        Field('resource_type', 'int8', 0, since=1),
        Field('resource_name', 'string', '', since=1),
        Field('pattern_type', 'int8', 3, since=1),
        Field('principal', 'string', '', since=1),
        Field('host', 'string', '', since=1),
        Field('operation', 'int8', 0, since=1),
        Field('permission_type', 'int8', 0, since=1),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        resource_type: int = 0,
        resource_name: str = '',
        pattern_type: int = 3,
        principal: str = '',
        host: str = '',
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


class DeleteAclsFilterResult(Message):
    __slots__ = ('error_code', 'error_message', 'matching_acls')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0, since=1),
        Field('error_message', 'string', '', since=1, nullable_since=1),
        Field('matching_acls', 'struct', (), array=True, struct=DeleteAclsMatchingAcl, since=1),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        matching_acls: Sequence[DeleteAclsMatchingAcl] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.matching_acls = matching_acls


class DeleteAclsResponse(Message):
    __slots__ = ('throttle_time_ms', 'filter_results')
    API_KEY: ClassVar[int] = 31
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('filter_results', 'struct', (), array=True, struct=DeleteAclsFilterResult, since=1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        filter_results: Sequence[DeleteAclsFilterResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.filter_results = filter_results
