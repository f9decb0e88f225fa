"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class CreatableReplicaAssignment(Message):
    __slots__ = ('partition_index', 'broker_ids')
    FLEXIBLE_SINCE: ClassVar[int] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=2),
        Field('broker_ids', 'int32', (), array=True, since=2),
    )

    def __init__(
        self,
        partition_index: int = 0,
        broker_ids: Sequence[int] = (),
    ) -> None:
        self.partition_index = partition_index
        self.broker_ids = broker_ids


class CreatableTopicConfig(Message):
    __slots__ = ('name', 'value')
    FLEXIBLE_SINCE: ClassVar[int] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=2),
        Field('value', 'string', '', since=2, nullable_since=2),
    )

    def __init__(
        self,
        name: str = '',
        value: str | None = '',
    ) -> None:
        self.name = name
        self.value = value


class CreatableTopic(Message):
    __slots__ = ('name', 'num_partitions', 'replication_factor', 'assignments', 'configs')
    FLEXIBLE_SINCE: ClassVar[int] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=2),
        Field('num_partitions', 'int32', 0, since=2),
        Field('replication_factor', 'int16', 0, since=2),
        Field('assignments', 'struct', (), array=True, struct=CreatableReplicaAssignment, since=2),
        Field('configs', 'struct', (), array=True, struct=CreatableTopicConfig, since=2),
    )

    def __init__(
        self,
        name: str = '',
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: Sequence[CreatableReplicaAssignment] = (),
        configs: Sequence[CreatableTopicConfig] = (),
    ) -> None:
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.assignments = assignments
        self.configs = configs


class CreateTopicsRequest(Message):
    __slots__ = ('topics', 'timeout_ms', 'validate_only')
    API_KEY: ClassVar[int] = 19
    FLEXIBLE_SINCE: ClassVar[int] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topics', 'struct', (), array=True, struct=CreatableTopic, since=2),
        Field('timeout_ms', 'int32', 60000, since=2),
        Field('validate_only', 'bool', False, since=2),
    )

    def __init__(
        self,
        topics: Sequence[CreatableTopic] = (),
        timeout_ms: int = 60000,
        validate_only: bool = False,
    ) -> None:
        self.topics = topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only


class CreatableTopicConfigs(Message):
    __slots__ = ('name', 'value', 'read_only', 'config_source', 'is_sensitive')
    FLEXIBLE_SINCE: ClassVar[int] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=5),
        Field('value', 'string', '', since=5, nullable_since=5),
        Field('read_only', 'bool', False, since=5),
        Field('config_source', 'int8', -1, since=5),
        Field('is_sensitive', 'bool', False, since=5),
    )

    def __init__(
        self,
        name: str = '',
        value: str | None = '',
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive


class CreatableTopicResult(Message):
    __slots__ = ('name', 'topic_id', 'error_code', 'error_message', 'topic_config_error_code', 'num_partitions', 'replication_factor', 'configs')
    FLEXIBLE_SINCE: ClassVar[int] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', '', since=2),
        Field('topic_id', 'uuid', _ZERO, since=7),
        Field('error_code', 'int16', 0, since=2),
        Field('error_message', 'string', '', since=2, nullable_since=2),
        Field('topic_config_error_code', 'int16', 0, since=5, tag=0, tag_since=5),
        Field('num_partitions', 'int32', -1, since=5),
        Field('replication_factor', 'int16', -1, since=5),
        Field('configs', 'struct', (), array=True, struct=CreatableTopicConfigs, since=5, nullable_since=5),
    )

    def __init__(
        self,
        name: str = '',
        topic_id: bytes = _ZERO,
        error_code: int = 0,
        error_message: str | None = '',
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: Sequence[CreatableTopicConfigs] | None = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.topic_config_error_code = topic_config_error_code
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.configs = configs


class CreateTopicsResponse(Message):
    __slots__ = ('throttle_time_ms', 'topics')
    API_KEY: ClassVar[int] = 19
    FLEXIBLE_SINCE: ClassVar[int] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=2),
        Field('topics', 'struct', (), array=True, struct=CreatableTopicResult, since=2),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[CreatableTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
