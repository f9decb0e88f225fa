"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class DescribeConfigsResource(Message):
    __slots__ = ('resource_type', 'resource_name', 'configuration_keys')
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('resource_type', 'int8', 0, since=1),
        Field('resource_name', 'string', '', since=1),
        Field('configuration_keys', 'string', (), array=True, since=1, nullable_since=1),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = '',
        configuration_keys: Sequence[str] | None = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configuration_keys = configuration_keys


class DescribeConfigsRequest(Message):
    __slots__ = ('resources', 'include_synonyms', 'include_documentation')
    API_KEY: ClassVar[int] = 32
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('resources', 'struct', (), array=True, struct=DescribeConfigsResource, since=1),
        Field('include_synonyms', 'bool', False, since=1),
        Field('include_documentation', 'bool', False, since=3),
    )

    def __init__(
        self,
        resources: Sequence[DescribeConfigsResource] = (),
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> None:
        self.resources = resources
        self.include_synonyms = include_synonyms
        self.include_documentation = include_documentation


class DescribeConfigsSynonym(Message):
    __slots__ = ('name', 'value', 'source')
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=1),
        Field('value', 'string', '', since=1, nullable_since=1),
        Field('source', 'int8', 0, since=1),
    )

    def __init__(
        self,
        name: str = '',
        value: str | None = '',
        source: int = 0,
    ) -> None:
        self.name = name
        self.value = value
        self.source = source


class DescribeConfigsResourceResult(Message):
    __slots__ = ('name', 'value', 'read_only', 'config_source', 'is_sensitive', 'synonyms', 'config_type', 'documentation')
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=1),
        Field('value', 'string', '', since=1, nullable_since=1),
        Field('read_only', 'bool', False, since=1),
        Field('config_source', 'int8', -1, since=1),
        Field('is_sensitive', 'bool', False, since=1),
        Field('synonyms', 'struct', (), array=True, struct=DescribeConfigsSynonym, since=1),
        Field('config_type', 'int8', 0, since=3),
        Field('documentation', 'string', '', since=3, nullable_since=3),
    )

    def __init__(
        self,
        name: str = '',
        value: str | None = '',
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: Sequence[DescribeConfigsSynonym] = (),
        config_type: int = 0,
        documentation: str | None = '',
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.synonyms = synonyms
        self.config_type = config_type
        self.documentation = documentation


class DescribeConfigsResult(Message):
    __slots__ = ('error_code', 'error_message', 'resource_type', 'resource_name', 'configs')
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0, since=1),
        Field('error_message', 'string', '', since=1, nullable_since=1),
        Field('resource_type', 'int8', 0, since=1),
        Field('resource_name', 'string', '', since=1),
        Field('configs', 'struct', (), array=True, struct=DescribeConfigsResourceResult, since=1),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        resource_type: int = 0,
        resource_name: str = '',
        configs: Sequence[DescribeConfigsResourceResult] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = configs


class DescribeConfigsResponse(Message):
    __slots__ = ('throttle_time_ms', 'results')
    API_KEY: ClassVar[int] = 32
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('results', 'struct', (), array=True, struct=DescribeConfigsResult, since=1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[DescribeConfigsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
