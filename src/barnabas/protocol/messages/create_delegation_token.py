"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class CreatableRenewers(Message):
    __slots__ = ('principal_type', 'principal_name')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('principal_type', 'string', '', since=1),
        Field('principal_name', 'string', '', since=1),
    )

    def __init__(
        self,
        principal_type: str = '',
        principal_name: str = '',
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name


class CreateDelegationTokenRequest(Message):
    __slots__ = ('owner_principal_type', 'owner_principal_name', 'renewers', 'max_lifetime_ms')
    API_KEY: ClassVar[int] = 38
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('owner_principal_type', 'string', '', since=3, nullable_since=3),
        Field('owner_principal_name', 'string', '', since=3, nullable_since=3),
        Field('renewers', 'struct', (), array=True, struct=CreatableRenewers, since=1),
        Field('max_lifetime_ms', 'int64', 0, since=1),
    )

    def __init__(
        self,
        owner_principal_type: str | None = '',
        owner_principal_name: str | None = '',
        renewers: Sequence[CreatableRenewers] = (),
        max_lifetime_ms: int = 0,
    ) -> None:
        self.owner_principal_type = owner_principal_type
        self.owner_principal_name = owner_principal_name
        self.renewers = renewers
        self.max_lifetime_ms = max_lifetime_ms


class CreateDelegationTokenResponse(Message):
    __slots__ = ('error_code', 'principal_type', 'principal_name', 'token_requester_principal_type', 'token_requester_principal_name', 'issue_timestamp_ms', 'expiry_timestamp_ms', 'max_timestamp_ms', 'token_id', 'hmac', 'throttle_time_ms')
    API_KEY: ClassVar[int] = 38
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0, since=1),
        Field('principal_type', 'string', '', since=1),
        Field('principal_name', 'string', '', since=1),
        Field('token_requester_principal_type', 'string', '', since=3),
        Field('token_requester_principal_name', 'string', '', since=3),
        Field('issue_timestamp_ms', 'int64', 0, since=1),
        Field('expiry_timestamp_ms', 'int64', 0, since=1),
        Field('max_timestamp_ms', 'int64', 0, since=1),
        Field('token_id', 'string', '', since=1),
        Field('hmac', 'bytes', b'', since=1),
        Field('throttle_time_ms', 'int32', 0, since=1),
    )

    def __init__(
        self,
        error_code: int = 0,
        principal_type: str = '',
        principal_name: str = '',
        token_requester_principal_type: str = '',
        token_requester_principal_name: str = '',
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = '',
        hmac: bytes = b'',
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp_ms = issue_timestamp_ms
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.token_id = token_id
        self.hmac = hmac
        self.throttle_time_ms = throttle_time_ms
