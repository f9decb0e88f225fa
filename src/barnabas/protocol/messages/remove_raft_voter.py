"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class RemoveRaftVoterRequest(Message):
    __slots__ = ('cluster_id', 'voter_id', 'voter_directory_id')
    API_KEY: ClassVar[int] = 81
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('cluster_id', 'string', '', nullable_since=0),
        Field('voter_id', 'int32', 0),
        Field('voter_directory_id', 'uuid', _ZERO),
    )

    def __init__(
        self,
        cluster_id: str | None = '',
        voter_id: int = 0,
        voter_directory_id: bytes = _ZERO,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id


class RemoveRaftVoterResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message')
    API_KEY: ClassVar[int] = 81
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
