"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class FetchPartition(Message):
    __slots__ = ('partition', 'current_leader_epoch', 'fetch_offset', 'last_fetched_epoch', 'log_start_offset', 'partition_max_bytes', 'replica_directory_id', 'high_watermark')
    FLEXIBLE_SINCE: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition', 'int32', 0, since=4),
        Field('current_leader_epoch', 'int32', -1, since=9),
        Field('fetch_offset', 'int64', 0, since=4),
        Field('last_fetched_epoch', 'int32', -1, since=12),
        Field('log_start_offset', 'int64', -1, since=5),
        Field('partition_max_bytes', 'int32', 0, since=4),
        Field('replica_directory_id', 'uuid', _ZERO, since=17, tag=0, tag_since=17),
        Field('high_watermark', 'int64', 9223372036854775807, since=18, tag=1, tag_since=18),
    )

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: bytes = _ZERO,
        high_watermark: int = 9223372036854775807,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.partition_max_bytes = partition_max_bytes
        self.replica_directory_id = replica_directory_id
        self.high_watermark = high_watermark


class FetchTopic(Message):
    __slots__ = ('topic_id', 'topic', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=13),
        Field('topic', 'string', '', since=4, until=12),
        Field('partitions', 'struct', (), array=True, struct=FetchPartition, since=4),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        topic: str = '',
        partitions: Sequence[FetchPartition] = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic = topic
        self.partitions = partitions


class ForgottenTopic(Message):
    __slots__ = ('topic_id', 'topic', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=13),
        Field('topic', 'string', '', since=7, until=12),
        Field('partitions', 'int32', (), array=True, since=7),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        topic: str = '',
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic = topic
        self.partitions = partitions


class ReplicaState(Message):
    __slots__ = ('replica_id', 'replica_epoch')
    FLEXIBLE_SINCE: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('replica_id', 'int32', -1, since=15),
        Field('replica_epoch', 'int64', -1, since=15),
    )

    def __init__(
        self,
        replica_id: int = -1,
        replica_epoch: int = -1,
    ) -> None:
        self.replica_id = replica_id
        self.replica_epoch = replica_epoch


class FetchRequest(Message):
    __slots__ = ('cluster_id', 'replica_state', 'replica_id', 'max_wait_ms', 'min_bytes', 'max_bytes', 'isolation_level', 'session_id', 'session_epoch', 'topics', 'forgotten_topics_data', 'rack_id')
    API_KEY: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('cluster_id', 'string', None, since=12, nullable_since=12, tag=0, tag_since=12),
        Field('replica_state', 'struct', None, struct=ReplicaState, since=15, tag=1, tag_since=15),
        Field('replica_id', 'int32', -1, since=4, until=14),
        Field('max_wait_ms', 'int32', 0, since=4),
        Field('min_bytes', 'int32', 0, since=4),
        Field('max_bytes', 'int32', 2147483647, since=4),
        Field('isolation_level', 'int8', 0, since=4),
        Field('session_id', 'int32', 0, since=7),
        Field('session_epoch', 'int32', -1, since=7),
        Field('topics', 'struct', (), array=True, struct=FetchTopic, since=4),
        Field('forgotten_topics_data', 'struct', (), array=True, struct=ForgottenTopic, since=7),
        Field('rack_id', 'string', '', since=11),
    )

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_state: ReplicaState | None = None,
        replica_id: int = -1,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: Sequence[FetchTopic] = (),
        forgotten_topics_data: Sequence[ForgottenTopic] = (),
        rack_id: str = '',
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_state = replica_state
        self.replica_id = replica_id
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.isolation_level = isolation_level
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.topics = topics
        self.forgotten_topics_data = forgotten_topics_data
        self.rack_id = rack_id


class AbortedTransaction(Message):
    __slots__ = ('producer_id', 'first_offset')
    FLEXIBLE_SINCE: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('producer_id', 'int64', 0, since=4),
        Field('first_offset', 'int64', 0, since=4),
    )

    def __init__(
        self,
        producer_id: int = 0,
        first_offset: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset


class EpochEndOffset(Message):
    __slots__ = ('epoch', 'end_offset')
    FLEXIBLE_SINCE: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('epoch', 'int32', -1, since=12),
        Field('end_offset', 'int64', -1, since=12),
    )

    def __init__(
        self,
        epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.epoch = epoch
        self.end_offset = end_offset


class LeaderIdAndEpoch(Message):
    __slots__ = ('leader_id', 'leader_epoch')
    FLEXIBLE_SINCE: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('leader_id', 'int32', -1, since=12),
        Field('leader_epoch', 'int32', -1, since=12),
    )

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class SnapshotId(Message):
    __slots__ = ('end_offset', 'epoch')
    FLEXIBLE_SINCE: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('end_offset', 'int64', -1, since=12),
        Field('epoch', 'int32', -1, since=12),
    )

    def __init__(
        self,
        end_offset: int = -1,
        epoch: int = -1,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch


class PartitionData(Message):
    __slots__ = ('partition_index', 'error_code', 'high_watermark', 'last_stable_offset', 'log_start_offset', 'diverging_epoch', 'current_leader', 'snapshot_id', 'aborted_transactions', 'preferred_read_replica', 'records')
    FLEXIBLE_SINCE: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0, since=4),
        Field('error_code', 'int16', 0, since=4),
        Field('high_watermark', 'int64', 0, since=4),
        Field('last_stable_offset', 'int64', -1, since=4),
        Field('log_start_offset', 'int64', -1, since=5),
        Field('diverging_epoch', 'struct', None, struct=EpochEndOffset, since=12, tag=0, tag_since=12),
        Field('current_leader', 'struct', None, struct=LeaderIdAndEpoch, since=12, tag=1, tag_since=12),
        Field('snapshot_id', 'struct', None, struct=SnapshotId, since=12, tag=2, tag_since=12),
        Field('aborted_transactions', 'struct', (), array=True, struct=AbortedTransaction, since=4, nullable_since=4),
        Field('preferred_read_replica', 'int32', -1, since=11),
        Field('records', 'records', None, since=4, nullable_since=4),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,
        log_start_offset: int = -1,
        diverging_epoch: EpochEndOffset | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        snapshot_id: SnapshotId | None = None,
        aborted_transactions: Sequence[AbortedTransaction] | None = (),
        preferred_read_replica: int = -1,
        records: Buffer | FileSlice | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.diverging_epoch = diverging_epoch
        self.current_leader = current_leader
        self.snapshot_id = snapshot_id
        self.aborted_transactions = aborted_transactions
        self.preferred_read_replica = preferred_read_replica
        self.records = records


class FetchableTopicResponse(Message):
    __slots__ = ('topic_id', 'topic', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic_id', 'uuid', _ZERO, since=13),
        Field('topic', 'string', '', since=4, until=12),
        Field('partitions', 'struct', (), array=True, struct=PartitionData, since=4),
    )

    def __init__(
        self,
        topic_id: bytes = _ZERO,
        topic: str = '',
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic = topic
        self.partitions = partitions


class NodeEndpoint(Message):
    __slots__ = ('node_id', 'host', 'port', 'rack')
    FLEXIBLE_SINCE: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('node_id', 'int32', 0, since=16),
        Field('host', 'string', '', since=16),
        Field('port', 'int32', 0, since=16),
        Field('rack', 'string', None, since=16, nullable_since=16),
    )

    def __init__(
        self,
        node_id: int = 0,
        host: str = '',
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack


class FetchResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'session_id', 'responses', 'node_endpoints')
    API_KEY: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0, since=4),
        Field('error_code', 'int16', 0, since=7),
        Field('session_id', 'int32', 0, since=7),
        Field('responses', 'struct', (), array=True, struct=FetchableTopicResponse, since=4),
        Field('node_endpoints', 'struct', (), array=True, struct=NodeEndpoint, since=16, tag=0, tag_since=16),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: Sequence[FetchableTopicResponse] = (),
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.session_id = session_id
        self.responses = responses
        self.node_endpoints = node_endpoints
