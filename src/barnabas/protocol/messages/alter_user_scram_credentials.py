"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class ScramCredentialDeletion(Message):
    __slots__ = ('name', 'mechanism')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('mechanism', 'int8', 0),
    )

    def __init__(
        self,
        name: str = '',
        mechanism: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism


class ScramCredentialUpsertion(Message):
    __slots__ = ('name', 'mechanism', 'iterations', 'salt', 'salted_password')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('mechanism', 'int8', 0),
        Field('iterations', 'int32', 0),
        Field('salt', 'bytes', b''),
        Field('salted_password', 'bytes', b''),
    )

    def __init__(
        self,
        name: str = '',
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b'',
        salted_password: bytes = b'',
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password


class AlterUserScramCredentialsRequest(Message):
    __slots__ = ('deletions', 'upsertions')
    API_KEY: ClassVar[int] = 51
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('deletions', 'struct', (), array=True, struct=ScramCredentialDeletion),
        Field('upsertions', 'struct', (), array=True, struct=ScramCredentialUpsertion),
    )

    def __init__(
        self,
        deletions: Sequence[ScramCredentialDeletion] = (),
        upsertions: Sequence[ScramCredentialUpsertion] = (),
    ) -> None:
        self.deletions = deletions
        self.upsertions = upsertions


class AlterUserScramCredentialsResult(Message):
    __slots__ = ('user', 'error_code', 'error_message')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('user', 'string', ''),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', '', nullable_since=0),
    )

    def __init__(
        self,
        user: str = '',
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message


class AlterUserScramCredentialsResponse(Message):
    __slots__ = ('throttle_time_ms', 'results')
    API_KEY: ClassVar[int] = 51
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('results', 'struct', (), array=True, struct=AlterUserScramCredentialsResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[AlterUserScramCredentialsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
