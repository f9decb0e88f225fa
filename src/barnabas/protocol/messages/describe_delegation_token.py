"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class DescribeDelegationTokenOwner(Message):
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


class DescribeDelegationTokenRequest(Message):
    __slots__ = ('owners',)
    API_KEY: ClassVar[int] = 41
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('owners', 'struct', (), array=True, struct=DescribeDelegationTokenOwner, since=1, nullable_since=1),
    )

    def __init__(
        self,
        owners: Sequence[DescribeDelegationTokenOwner] | None = (),
    ) -> None:
        self.owners = owners


class DescribedDelegationTokenRenewer(Message):
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


class DescribedDelegationToken(Message):
    __slots__ = ('principal_type', 'principal_name', 'token_requester_principal_type', 'token_requester_principal_name', 'issue_timestamp', 'expiry_timestamp', 'max_timestamp', 'token_id', 'hmac', 'renewers')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('principal_type', 'string', '', since=1),
        Field('principal_name', 'string', '', since=1),
        Field('token_requester_principal_type', 'string', '', since=3),
        Field('token_requester_principal_name', 'string', '', since=3),
        Field('issue_timestamp', 'int64', 0, since=1),
        Field('expiry_timestamp', 'int64', 0, since=1),
        Field('max_timestamp', 'int64', 0, since=1),
        Field('token_id', 'string', '', since=1),
        Field('hmac', 'bytes', b'', since=1),
        Field('renewers', 'struct', (), array=True, struct=DescribedDelegationTokenRenewer, since=1),
    )

    def __init__(
        self,
        principal_type: str = '',
        principal_name: str = '',
        token_requester_principal_type: str = '',
        token_requester_principal_name: str = '',
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = '',
        hmac: bytes = b'',
        renewers: Sequence[DescribedDelegationTokenRenewer] = (),
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp = issue_timestamp
        self.expiry_timestamp = expiry_timestamp
        self.max_timestamp = max_timestamp
        self.token_id = token_id
        self.hmac = hmac
        self.renewers = renewers


class DescribeDelegationTokenResponse(Message):
    __slots__ = ('error_code', 'tokens', 'throttle_time_ms')
    API_KEY: ClassVar[int] = 41
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0, since=1),
        Field('tokens', 'struct', (), array=True, struct=DescribedDelegationToken, since=1),
        Field('throttle_time_ms', 'int32', 0, since=1),
    )

    def __init__(
        self,
        error_code: int = 0,
        tokens: Sequence[DescribedDelegationToken] = (),
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.tokens = tokens
        self.throttle_time_ms = throttle_time_ms
