"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class SaslAuthenticateRequest(Message):
    __slots__ = ('auth_bytes',)
    API_KEY: ClassVar[int] = 36
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('auth_bytes', 'bytes', b''),
    )

    def __init__(
        self,
        auth_bytes: bytes = b'',
    ) -> None:
        self.auth_bytes = auth_bytes


class SaslAuthenticateResponse(Message):
    __slots__ = ('error_code', 'error_message', 'auth_bytes', 'session_lifetime_ms')
    API_KEY: ClassVar[int] = 36
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', '', nullable_since=0),
        Field('auth_bytes', 'bytes', b''),
        Field('session_lifetime_ms', 'int64', 0, since=1),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        auth_bytes: bytes = b'',
        session_lifetime_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.auth_bytes = auth_bytes
        self.session_lifetime_ms = session_lifetime_ms
