"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class CreatePartitionsAssignment(Message):
    __slots__ = ('broker_ids',)
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('broker_ids', 'int32', (), array=True),
    )

    def __init__(
        self,
        broker_ids: Sequence[int] = (),
    ) -> None:
        self.broker_ids = broker_ids


class CreatePartitionsTopic(Message):
    __slots__ = ('name', 'count', 'assignments')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('count', 'int32', 0),
        Field('assignments', 'struct', (), array=True, struct=CreatePartitionsAssignment, nullable_since=0),
    )

    def __init__(
        self,
        name: str = '',
        count: int = 0,
        assignments: Sequence[CreatePartitionsAssignment] | None = (),
    ) -> None:
        self.name = name
        self.count = count
        self.assignments = assignments


class CreatePartitionsRequest(Message):
    __slots__ = ('topics', 'timeout_ms', 'validate_only')
    API_KEY: ClassVar[int] = 37
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topics', 'struct', (), array=True, struct=CreatePartitionsTopic),
        Field('timeout_ms', 'int32', 0),
        Field('validate_only', 'bool', False),
    )

    def __init__(
        self,
        topics: Sequence[CreatePartitionsTopic] = (),
        timeout_ms: int = 0,
        validate_only: bool = False,
    ) -> None:
        self.topics = topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only


class CreatePartitionsTopicResult(Message):
    __slots__ = ('name', 'error_code', 'error_message')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', None, nullable_since=0),
    )

    def __init__(
        self,
        name: str = '',
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.error_code = error_code
        self.error_message = error_message


class CreatePartitionsResponse(Message):
    __slots__ = ('throttle_time_ms', 'results')
    API_KEY: ClassVar[int] = 37
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('results', 'struct', (), array=True, struct=CreatePartitionsTopicResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[CreatePartitionsTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
