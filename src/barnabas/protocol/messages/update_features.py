"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class FeatureUpdateKey(Message):
    __slots__ = ('feature', 'max_version_level', 'upgrade_type', 'allow_downgrade')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('feature', 'string', ''),
        Field('max_version_level', 'int16', 0),
        Field('upgrade_type', 'int8', 1, since=1),
        Field('allow_downgrade', 'bool', False, until=0),
    )

    def __init__(
        self,
        feature: str = '',
        max_version_level: int = 0,
        upgrade_type: int = 1,
        allow_downgrade: bool = False,
    ) -> None:
        self.feature = feature
        self.max_version_level = max_version_level
        self.upgrade_type = upgrade_type
        self.allow_downgrade = allow_downgrade


class UpdateFeaturesRequest(Message):
    __slots__ = ('timeout_ms', 'feature_updates', 'validate_only')
    API_KEY: ClassVar[int] = 57
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('timeout_ms', 'int32', 60000),
        Field('feature_updates', 'struct', (), array=True, struct=FeatureUpdateKey),
        Field('validate_only', 'bool', False, since=1),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,
        feature_updates: Sequence[FeatureUpdateKey] = (),
        validate_only: bool = False,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.feature_updates = feature_updates
        self.validate_only = validate_only


class UpdatableFeatureResult(Message):
    __slots__ = ('feature', 'error_code', 'error_message')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('feature', 'string', '', until=1),
        Field('error_code', 'int16', 0, until=1),
        Field('error_message', 'string', '', until=1, nullable_since=0),
    )

    def __init__(
        self,
        feature: str = '',
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.feature = feature
        self.error_code = error_code
        self.error_message = error_message


class UpdateFeaturesResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'results')
    API_KEY: ClassVar[int] = 57
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', '', nullable_since=0),
        Field('results', 'struct', (), array=True, struct=UpdatableFeatureResult, until=1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
        results: Sequence[UpdatableFeatureResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = results
