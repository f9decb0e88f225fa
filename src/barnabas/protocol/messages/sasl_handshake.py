"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class SaslHandshakeRequest(Message):
    __slots__ = ('mechanism',)
    API_KEY: ClassVar[int] = 17
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('mechanism', 'string', ''),
    )

    def __init__(
        self,
        mechanism: str = '',
    ) -> None:
        self.mechanism = mechanism


class SaslHandshakeResponse(Message):
    __slots__ = ('error_code', 'mechanisms')
    API_KEY: ClassVar[int] = 17
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('mechanisms', 'string', (), array=True),
    )

    def __init__(
        self,
        error_code: int = 0,
        mechanisms: Sequence[str] = (),
    ) -> None:
        self.error_code = error_code
        self.mechanisms = mechanisms
