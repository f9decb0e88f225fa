"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class KeyValue(Message):
    __slots__ = ('key', 'value')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('key', 'string', ''),
        Field('value', 'string', ''),
    )

    def __init__(
        self,
        key: str = '',
        value: str = '',
    ) -> None:
        self.key = key
        self.value = value


class TopicInfo(Message):
    __slots__ = ('name', 'partitions', 'replication_factor', 'topic_configs')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('partitions', 'int32', 0),
        Field('replication_factor', 'int16', 0),
        Field('topic_configs', 'struct', (), array=True, struct=KeyValue),
    )

    def __init__(
        self,
        name: str = '',
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: Sequence[KeyValue] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs = topic_configs


class CopartitionGroup(Message):
    __slots__ = ('source_topics', 'source_topic_regex', 'repartition_source_topics')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('source_topics', 'int16', (), array=True),
        Field('source_topic_regex', 'int16', (), array=True),
        Field('repartition_source_topics', 'int16', (), array=True),
    )

    def __init__(
        self,
        source_topics: Sequence[int] = (),
        source_topic_regex: Sequence[int] = (),
        repartition_source_topics: Sequence[int] = (),
    ) -> None:
        self.source_topics = source_topics
        self.source_topic_regex = source_topic_regex
        self.repartition_source_topics = repartition_source_topics


class Subtopology(Message):
    __slots__ = ('subtopology_id', 'source_topics', 'source_topic_regex', 'state_changelog_topics', 'repartition_sink_topics', 'repartition_source_topics', 'copartition_groups')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('subtopology_id', 'string', ''),
        Field('source_topics', 'string', (), array=True),
        Field('source_topic_regex', 'string', (), array=True),
        Field('state_changelog_topics', 'struct', (), array=True, struct=TopicInfo),
        Field('repartition_sink_topics', 'string', (), array=True),
        Field('repartition_source_topics', 'struct', (), array=True, struct=TopicInfo),
        Field('copartition_groups', 'struct', (), array=True, struct=CopartitionGroup),
    )

    def __init__(
        self,
        subtopology_id: str = '',
        source_topics: Sequence[str] = (),
        source_topic_regex: Sequence[str] = (),
        state_changelog_topics: Sequence[TopicInfo] = (),
        repartition_sink_topics: Sequence[str] = (),
        repartition_source_topics: Sequence[TopicInfo] = (),
        copartition_groups: Sequence[CopartitionGroup] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = source_topics
        self.source_topic_regex = source_topic_regex
        self.state_changelog_topics = state_changelog_topics
        self.repartition_sink_topics = repartition_sink_topics
        self.repartition_source_topics = repartition_source_topics
        self.copartition_groups = copartition_groups


class Topology(Message):
    __slots__ = ('epoch', 'subtopologies')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('epoch', 'int32', 0),
        Field('subtopologies', 'struct', (), array=True, struct=Subtopology),
    )

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: Sequence[Subtopology] = (),
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies


class TaskIds(Message):
    __slots__ = ('subtopology_id', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('subtopology_id', 'string', ''),
        Field('partitions', 'int32', (), array=True),
    )

    def __init__(
        self,
        subtopology_id: str = '',
        partitions: Sequence[int] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = partitions


class Endpoint(Message):
    __slots__ = ('host', 'port')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('host', 'string', ''),
        Field('port', 'uint16', 0),
    )

    def __init__(
        self,
        host: str = '',
        port: int = 0,
    ) -> None:
        self.host = host
        self.port = port


class TaskOffset(Message):
    __slots__ = ('subtopology_id', 'partition', 'offset')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('subtopology_id', 'string', ''),
        Field('partition', 'int32', 0),
        Field('offset', 'int64', 0),
    )

    def __init__(
        self,
        subtopology_id: str = '',
        partition: int = 0,
        offset: int = 0,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partition = partition
        self.offset = offset


class StreamsGroupHeartbeatRequest(Message):
    __slots__ = ('group_id', 'member_id', 'member_epoch', 'endpoint_information_epoch', 'instance_id', 'rack_id', 'rebalance_timeout_ms', 'topology', 'active_tasks', 'standby_tasks', 'warmup_tasks', 'process_id', 'user_endpoint', 'client_tags', 'task_offsets', 'task_end_offsets', 'shutdown_application')
    API_KEY: ClassVar[int] = 88
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_id', 'string', ''),
        Field('member_id', 'string', ''),
        Field('member_epoch', 'int32', 0),
        Field('endpoint_information_epoch', 'int32', 0),
        Field('instance_id', 'string', None, nullable_since=0),
        Field('rack_id', 'string', None, nullable_since=0),
        Field('rebalance_timeout_ms', 'int32', -1),
        Field('topology', 'struct', None, struct=Topology, nullable_since=0),
        Field('active_tasks', 'struct', (), array=True, struct=TaskIds, nullable_since=0),
        Field('standby_tasks', 'struct', (), array=True, struct=TaskIds, nullable_since=0),
        Field('warmup_tasks', 'struct', (), array=True, struct=TaskIds, nullable_since=0),
        Field('process_id', 'string', None, nullable_since=0),
        Field('user_endpoint', 'struct', None, struct=Endpoint, nullable_since=0),
        Field('client_tags', 'struct', (), array=True, struct=KeyValue, nullable_since=0),
        Field('task_offsets', 'struct', (), array=True, struct=TaskOffset, nullable_since=0),
        Field('task_end_offsets', 'struct', (), array=True, struct=TaskOffset, nullable_since=0),
        Field('shutdown_application', 'bool', False),
    )

    def __init__(
        self,
        group_id: str = '',
        member_id: str = '',
        member_epoch: int = 0,
        endpoint_information_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: Topology | None = None,
        active_tasks: Sequence[TaskIds] | None = (),
        standby_tasks: Sequence[TaskIds] | None = (),
        warmup_tasks: Sequence[TaskIds] | None = (),
        process_id: str | None = None,
        user_endpoint: Endpoint | None = None,
        client_tags: Sequence[KeyValue] | None = (),
        task_offsets: Sequence[TaskOffset] | None = (),
        task_end_offsets: Sequence[TaskOffset] | None = (),
        shutdown_application: bool = False,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.endpoint_information_epoch = endpoint_information_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology = topology
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.shutdown_application = shutdown_application


class Status(Message):
    __slots__ = ('status_code', 'status_detail')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('status_code', 'int8', 0),
        Field('status_detail', 'string', ''),
    )

    def __init__(
        self,
        status_code: int = 0,
        status_detail: str = '',
    ) -> None:
        self.status_code = status_code
        self.status_detail = status_detail


class ResponseTaskIds(Message):
    __slots__ = ('subtopology_id', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('subtopology_id', 'string', ''),
        Field('partitions', 'int32', (), array=True),
    )

    def __init__(
        self,
        subtopology_id: str = '',
        partitions: Sequence[int] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = partitions


class ResponseEndpoint(Message):
    __slots__ = ('host', 'port')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('host', 'string', ''),
        Field('port', 'uint16', 0),
    )

    def __init__(
        self,
        host: str = '',
        port: int = 0,
    ) -> None:
        self.host = host
        self.port = port


class TopicPartition(Message):
    __slots__ = ('topic', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
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


class EndpointToPartitions(Message):
    __slots__ = ('user_endpoint', 'active_partitions', 'standby_partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('user_endpoint', 'struct', None, struct=ResponseEndpoint),
        Field('active_partitions', 'struct', (), array=True, struct=TopicPartition),
        Field('standby_partitions', 'struct', (), array=True, struct=TopicPartition),
    )

    def __init__(
        self,
        user_endpoint: ResponseEndpoint | None = None,
        active_partitions: Sequence[TopicPartition] = (),
        standby_partitions: Sequence[TopicPartition] = (),
    ) -> None:
        self.user_endpoint = user_endpoint
        self.active_partitions = active_partitions
        self.standby_partitions = standby_partitions


class StreamsGroupHeartbeatResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'member_id', 'member_epoch', 'heartbeat_interval_ms', 'acceptable_recovery_lag', 'task_offset_interval_ms', 'status', 'active_tasks', 'standby_tasks', 'warmup_tasks', 'endpoint_information_epoch', 'partitions_by_user_endpoint')
    API_KEY: ClassVar[int] = 88
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', None, nullable_since=0),
        Field('member_id', 'string', ''),
        Field('member_epoch', 'int32', 0),
        Field('heartbeat_interval_ms', 'int32', 0),
        Field('acceptable_recovery_lag', 'int32', 0),
        Field('task_offset_interval_ms', 'int32', 0),
        Field('status', 'struct', (), array=True, struct=Status, nullable_since=0),
        Field('active_tasks', 'struct', (), array=True, struct=ResponseTaskIds, nullable_since=0),
        Field('standby_tasks', 'struct', (), array=True, struct=ResponseTaskIds, nullable_since=0),
        Field('warmup_tasks', 'struct', (), array=True, struct=ResponseTaskIds, nullable_since=0),
        Field('endpoint_information_epoch', 'int32', 0),
        Field('partitions_by_user_endpoint', 'struct', (), array=True, struct=EndpointToPartitions, nullable_since=0),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str = '',
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        acceptable_recovery_lag: int = 0,
        task_offset_interval_ms: int = 0,
        status: Sequence[Status] | None = (),
        active_tasks: Sequence[ResponseTaskIds] | None = (),
        standby_tasks: Sequence[ResponseTaskIds] | None = (),
        warmup_tasks: Sequence[ResponseTaskIds] | None = (),
        endpoint_information_epoch: int = 0,
        partitions_by_user_endpoint: Sequence[EndpointToPartitions] | None = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.acceptable_recovery_lag = acceptable_recovery_lag
        self.task_offset_interval_ms = task_offset_interval_ms
        self.status = status
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.endpoint_information_epoch = endpoint_information_epoch
        self.partitions_by_user_endpoint = partitions_by_user_endpoint
