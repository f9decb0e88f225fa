"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class TopicPartitions(Message):
    __slots__ = ('topic', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic', 'string', ''),
        Field('partitions', 'int32', (), array=True),
    )

    def __init__(
        self,
        topic: str = '',
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class ElectLeadersRequest(Message):
    __slots__ = ('election_type', 'topic_partitions', 'timeout_ms')
    API_KEY: ClassVar[int] = 43
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('election_type', 'int8', 0, since=1),
        Field('topic_partitions', 'struct', (), array=True, struct=TopicPartitions, nullable_since=0),
        Field('timeout_ms', 'int32', 60000),
    )

    def __init__(
        self,
        election_type: int = 0,
        topic_partitions: Sequence[TopicPartitions] | None = (),
        timeout_ms: int = 60000,
    ) -> None:
        self.election_type = election_type
        self.topic_partitions = topic_partitions
        self.timeout_ms = timeout_ms


class PartitionResult(Message):
    __slots__ = ('partition_id', 'error_code', 'error_message')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_id', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', '', nullable_since=0),
    )

    def __init__(
        self,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message


class ReplicaElectionResult(Message):
    __slots__ = ('topic', 'partition_result')
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic', 'string', ''),
        Field('partition_result', 'struct', (), array=True, struct=PartitionResult),
    )

    def __init__(
        self,
        topic: str = '',
        partition_result: Sequence[PartitionResult] = (),
    ) -> None:
        self.topic = topic
        self.partition_result = partition_result


class ElectLeadersResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'replica_election_results')
    API_KEY: ClassVar[int] = 43
    FLEXIBLE_SINCE: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('error_code', 'int16', 0, since=1),
        Field('replica_election_results', 'struct', (), array=True, struct=ReplicaElectionResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: Sequence[ReplicaElectionResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results = replica_election_results
