"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class UnregisterBrokerRequest(Message):
    __slots__ = ('broker_id',)
    API_KEY: ClassVar[int] = 64
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('broker_id', 'int32', 0),
    )

    def __init__(
        self,
        broker_id: int = 0,
    ) -> None:
        self.broker_id = broker_id


class UnregisterBrokerResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message')
    API_KEY: ClassVar[int] = 64
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', '', nullable_since=0),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
