"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class DeleteShareGroupOffsetsRequestTopic(Message):
    __slots__ = ('topic_name',)
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_name', 'string', ''),
    )

    def __init__(
        self,
        topic_name: str = '',
    ) -> None:
        self.topic_name = topic_name


class DeleteShareGroupOffsetsRequest(Message):
    __slots__ = ('group_id', 'topics')
    API_KEY: ClassVar[int] = 92
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', ''),
        Field('topics', 'struct', (), array=True, struct=DeleteShareGroupOffsetsRequestTopic),
    )

    def __init__(
        self,
        group_id: str = '',
        topics: Sequence[DeleteShareGroupOffsetsRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class DeleteShareGroupOffsetsResponseTopic(Message):
    __slots__ = ('topic_name', 'topic_id', 'error_code', 'error_message')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_name', 'string', ''),
        Field('topic_id', 'uuid', _ZERO),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', None, nullable_since=0),
    )

    def __init__(
        self,
        topic_name: str = '',
        topic_id: bytes = _ZERO,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message


class DeleteShareGroupOffsetsResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'responses')
    API_KEY: ClassVar[int] = 92
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', None, nullable_since=0),
        Field('responses', 'struct', (), array=True, struct=DeleteShareGroupOffsetsResponseTopic),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: Sequence[DeleteShareGroupOffsetsResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.responses = responses
