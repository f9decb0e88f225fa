"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class FindCoordinatorRequest(Message):
    __slots__ = ('key', 'key_type', 'coordinator_keys')
    API_KEY: ClassVar[int] = 10
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('key', 'string', '', until=3),
        Field('key_type', 'int8', 0, since=1),
        Field('coordinator_keys', 'string', (), array=True, since=4),
    )

    def __init__(
        self,
        key: str = '',
        key_type: int = 0,
        coordinator_keys: Sequence[str] = (),
    ) -> None:
        self.key = key
        self.key_type = key_type
        self.coordinator_keys = coordinator_keys


class Coordinator(Message):
    __slots__ = ('key', 'node_id', 'host', 'port', 'error_code', 'error_message')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('key', 'string', '', since=4),
        Field('node_id', 'int32', 0, since=4),
        Field('host', 'string', '', since=4),
        Field('port', 'int32', 0, since=4),
        Field('error_code', 'int16', 0, since=4),
        Field('error_message', 'string', '', since=4, nullable_since=4),
    )

    def __init__(
        self,
        key: str = '',
        node_id: int = 0,
        host: str = '',
        port: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.key = key
        self.node_id = node_id
        self.host = host
        self.port = port
        self.error_code = error_code
        self.error_message = error_message


class FindCoordinatorResponse(Message):
    __slots__ = ('throttle_time_ms', 'coordinators', 'error_code', 'error_message', 'node_id', 'host', 'port')
    API_KEY: ClassVar[int] = 10
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('coordinators', 'struct', (), array=True, struct=Coordinator, since=4),
        Field('error_code', 'int16', 0, until=3),
        Field('error_message', 'string', '', since=1, until=3, nullable_since=1),
        Field('node_id', 'int32', 0, until=3),
        Field('host', 'string', '', until=3),
        Field('port', 'int32', 0, until=3),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        coordinators: Sequence[Coordinator] = (),
        error_code: int = 0,
        error_message: str | None = '',
        node_id: int = 0,
        host: str = '',
        port: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.coordinators = coordinators
        self.error_code = error_code
        self.error_message = error_message
        self.node_id = node_id
        self.host = host
        self.port = port
