"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class ApiVersionsRequest(Message):
    __slots__ = ('client_software_name', 'client_software_version')
    API_KEY: ClassVar[int] = 18
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('client_software_name', 'string', '', since=3),
        Field('client_software_version', 'string', '', since=3),
    )

    def __init__(
        self,
        client_software_name: str = '',
        client_software_version: str = '',
    ) -> None:
        self.client_software_name = client_software_name
        self.client_software_version = client_software_version


class ApiVersion(Message):
    __slots__ = ('api_key', 'min_version', 'max_version')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('api_key', 'int16', 0),
        Field('min_version', 'int16', 0),
        Field('max_version', 'int16', 0),
    )

    def __init__(
        self,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.api_key = api_key
        self.min_version = min_version
        self.max_version = max_version


class SupportedFeatureKey(Message):
    __slots__ = ('name', 'min_version', 'max_version')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=3),
        Field('min_version', 'int16', 0, since=3),
        Field('max_version', 'int16', 0, since=3),
    )

    def __init__(
        self,
        name: str = '',
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.name = name
        self.min_version = min_version
        self.max_version = max_version


class FinalizedFeatureKey(Message):
    __slots__ = ('name', 'max_version_level', 'min_version_level')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=3),
        Field('max_version_level', 'int16', 0, since=3),
        Field('min_version_level', 'int16', 0, since=3),
    )

    def __init__(
        self,
        name: str = '',
        max_version_level: int = 0,
        min_version_level: int = 0,
    ) -> None:
        self.name = name
        self.max_version_level = max_version_level
        self.min_version_level = min_version_level


class ApiVersionsResponse(Message):
    __slots__ = ('error_code', 'api_keys', 'throttle_time_ms', 'supported_features', 'finalized_features_epoch', 'finalized_features', 'zk_migration_ready')
    API_KEY: ClassVar[int] = 18
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('api_keys', 'struct', (), array=True, struct=ApiVersion),
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('supported_features', 'struct', (), array=True, struct=SupportedFeatureKey, since=3, tag=0, tag_since=3),
        Field('finalized_features_epoch', 'int64', -1, since=3, tag=1, tag_since=3),
        Field('finalized_features', 'struct', (), array=True, struct=FinalizedFeatureKey, since=3, tag=2, tag_since=3),
        Field('zk_migration_ready', 'bool', False, since=3, tag=3, tag_since=3),
    )

    def __init__(
        self,
        error_code: int = 0,
        api_keys: Sequence[ApiVersion] = (),
        throttle_time_ms: int = 0,
        supported_features: Sequence[SupportedFeatureKey] = (),
        finalized_features_epoch: int = -1,
        finalized_features: Sequence[FinalizedFeatureKey] = (),
        zk_migration_ready: bool = False,
    ) -> None:
        self.error_code = error_code
        self.api_keys = api_keys
        self.throttle_time_ms = throttle_time_ms
        self.supported_features = supported_features
        self.finalized_features_epoch = finalized_features_epoch
        self.finalized_features = finalized_features
        self.zk_migration_ready = zk_migration_ready
