"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class RenewDelegationTokenRequest(Message):
    __slots__ = ('hmac', 'renew_period_ms')
    API_KEY: ClassVar[int] = 39
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('hmac', 'bytes', b'', since=1),
        Field('renew_period_ms', 'int64', 0, since=1),
    )

    def __init__(
        self,
        hmac: bytes = b'',
        renew_period_ms: int = 0,
    ) -> None:
        self.hmac = hmac
        self.renew_period_ms = renew_period_ms


class RenewDelegationTokenResponse(Message):
    __slots__ = ('error_code', 'expiry_timestamp_ms', 'throttle_time_ms')
    API_KEY: ClassVar[int] = 39
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0, since=1),
        Field('expiry_timestamp_ms', 'int64', 0, since=1),
        Field('throttle_time_ms', 'int32', 0, since=1),
    )

    def __init__(
        self,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.throttle_time_ms = throttle_time_ms
