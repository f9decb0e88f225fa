"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class UserName(Message):
    __slots__ = ('name',)
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
    )

    def __init__(
        self,
        name: str = '',
    ) -> None:
        self.name = name


class DescribeUserScramCredentialsRequest(Message):
    __slots__ = ('users',)
    API_KEY: ClassVar[int] = 50
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('users', 'struct', (), array=True, struct=UserName, nullable_since=0),
    )

    def __init__(
        self,
        users: Sequence[UserName] | None = (),
    ) -> None:
        self.users = users


class CredentialInfo(Message):
    __slots__ = ('mechanism', 'iterations')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('mechanism', 'int8', 0),
        Field('iterations', 'int32', 0),
    )

    def __init__(
        self,
        mechanism: int = 0,
        iterations: int = 0,
    ) -> None:
        self.mechanism = mechanism
        self.iterations = iterations


class DescribeUserScramCredentialsResult(Message):
    __slots__ = ('user', 'error_code', 'error_message', 'credential_infos')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('user', 'string', ''),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', '', nullable_since=0),
        Field('credential_infos', 'struct', (), array=True, struct=CredentialInfo),
    )

    def __init__(
        self,
        user: str = '',
        error_code: int = 0,
        error_message: str | None = '',
        credential_infos: Sequence[CredentialInfo] = (),
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.credential_infos = credential_infos


class DescribeUserScramCredentialsResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'results')
    API_KEY: ClassVar[int] = 50
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', '', nullable_since=0),
        Field('results', 'struct', (), array=True, struct=DescribeUserScramCredentialsResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
        results: Sequence[DescribeUserScramCredentialsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = results
