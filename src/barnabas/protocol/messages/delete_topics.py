"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class DeleteTopicState(Message):
    __slots__ = ('name', 'topic_id')
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', None, since=6, nullable_since=6),
        Field('topic_id', 'uuid', _ZERO, since=6),
    )

    def __init__(
        self,
        name: str | None = None,
        topic_id: bytes = _ZERO,
    ) -> None:
        self.name = name
        self.topic_id = topic_id


class DeleteTopicsRequest(Message):
    __slots__ = ('topics', 'topic_names', 'timeout_ms')
    API_KEY: ClassVar[int] = 20
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topics', 'struct', (), array=True, struct=DeleteTopicState, since=6),
        Field('topic_names', 'string', (), array=True, since=1, until=5),
        Field('timeout_ms', 'int32', 0, since=1),
    )

    def __init__(
        self,
        topics: Sequence[DeleteTopicState] = (),
        topic_names: Sequence[str] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.topics = topics
        self.topic_names = topic_names
        self.timeout_ms = timeout_ms


class DeletableTopicResult(Message):
    __slots__ = ('name', 'topic_id', 'error_code', 'error_message')
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=1, nullable_since=6),
        Field('topic_id', 'uuid', _ZERO, since=6),
        Field('error_code', 'int16', 0, since=1),
        Field('error_message', 'string', None, since=5, nullable_since=5),
    )

    def __init__(
        self,
        name: str | None = '',
        topic_id: bytes = _ZERO,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message


class DeleteTopicsResponse(Message):
    __slots__ = ('throttle_time_ms', 'responses')
    API_KEY: ClassVar[int] = 20
    FLEXIBLE_SINCE: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=1),
        Field('responses', 'struct', (), array=True, struct=DeletableTopicResult, since=1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: Sequence[DeletableTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = responses
