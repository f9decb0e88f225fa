"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class PushTelemetryRequest(Message):
    __slots__ = ('client_instance_id', 'subscription_id', 'terminating', 'compression_type', 'metrics')
    API_KEY: ClassVar[int] = 72
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('client_instance_id', 'uuid', _ZERO),
        Field('subscription_id', 'int32', 0),
        Field('terminating', 'bool', False),
        Field('compression_type', 'int8', 0),
        Field('metrics', 'bytes', b''),
    )

    def __init__(
        self,
        client_instance_id: bytes = _ZERO,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: bytes = b'',
    ) -> None:
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.terminating = terminating
        self.compression_type = compression_type
        self.metrics = metrics


class PushTelemetryResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code')
    API_KEY: ClassVar[int] = 72
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('error_code', 'int16', 0),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
