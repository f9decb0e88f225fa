"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class StreamsGroupDescribeRequest(Message):
    __slots__ = ('group_ids', 'include_authorized_operations')
    API_KEY: ClassVar[int] = 89
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('group_ids', 'string', (), array=True),
        Field('include_authorized_operations', 'bool', False),
    )

    def __init__(
        self,
        group_ids: Sequence[str] = (),
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids = group_ids
        self.include_authorized_operations = include_authorized_operations


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


class Subtopology(Message):
    __slots__ = ('subtopology_id', 'source_topics', 'repartition_sink_topics', 'state_changelog_topics', 'repartition_source_topics')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('subtopology_id', 'string', ''),
        Field('source_topics', 'string', (), array=True),
        Field('repartition_sink_topics', 'string', (), array=True),
        Field('state_changelog_topics', 'struct', (), array=True, struct=TopicInfo),
        Field('repartition_source_topics', 'struct', (), array=True, struct=TopicInfo),
    )

    def __init__(
        self,
        subtopology_id: str = '',
        source_topics: Sequence[str] = (),
        repartition_sink_topics: Sequence[str] = (),
        state_changelog_topics: Sequence[TopicInfo] = (),
        repartition_source_topics: Sequence[TopicInfo] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = source_topics
        self.repartition_sink_topics = repartition_sink_topics
        self.state_changelog_topics = state_changelog_topics
        self.repartition_source_topics = repartition_source_topics


class Topology(Message):
    __slots__ = ('epoch', 'subtopologies')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('epoch', 'int32', 0),
        Field('subtopologies', 'struct', (), array=True, struct=Subtopology, nullable_since=0),
    )

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: Sequence[Subtopology] | None = (),
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies


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


class Assignment(Message):
    __slots__ = ('active_tasks', 'standby_tasks', 'warmup_tasks')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('active_tasks', 'struct', (), array=True, struct=TaskIds),
        Field('standby_tasks', 'struct', (), array=True, struct=TaskIds),
        Field('warmup_tasks', 'struct', (), array=True, struct=TaskIds),
    )

    def __init__(
        self,
        active_tasks: Sequence[TaskIds] = (),
        standby_tasks: Sequence[TaskIds] = (),
        warmup_tasks: Sequence[TaskIds] = (),
    ) -> None:
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks


class Member(Message):
    __slots__ = ('member_id', 'member_epoch', 'instance_id', 'rack_id', 'client_id', 'client_host', 'topology_epoch', 'process_id', 'user_endpoint', 'client_tags', 'task_offsets', 'task_end_offsets', 'assignment', 'target_assignment', 'is_classic')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('member_id', 'string', ''),
        Field('member_epoch', 'int32', 0),
        Field('instance_id', 'string', None, nullable_since=0),
        Field('rack_id', 'string', None, nullable_since=0),
        Field('client_id', 'string', ''),
        Field('client_host', 'string', ''),
        Field('topology_epoch', 'int32', 0),
        Field('process_id', 'string', ''),
        Field('user_endpoint', 'struct', None, struct=Endpoint, nullable_since=0),
        Field('client_tags', 'struct', (), array=True, struct=KeyValue),
        Field('task_offsets', 'struct', (), array=True, struct=TaskOffset),
        Field('task_end_offsets', 'struct', (), array=True, struct=TaskOffset),
        Field('assignment', 'struct', None, struct=Assignment),
        Field('target_assignment', 'struct', None, struct=Assignment),
        Field('is_classic', 'bool', False),
    )

    def __init__(
        self,
        member_id: str = '',
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        client_id: str = '',
        client_host: str = '',
        topology_epoch: int = 0,
        process_id: str = '',
        user_endpoint: Endpoint | None = None,
        client_tags: Sequence[KeyValue] = (),
        task_offsets: Sequence[TaskOffset] = (),
        task_end_offsets: Sequence[TaskOffset] = (),
        assignment: Assignment | None = None,
        target_assignment: Assignment | None = None,
        is_classic: bool = False,
    ) -> None:
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.assignment = assignment
        self.target_assignment = target_assignment
        self.is_classic = is_classic


class DescribedGroup(Message):
    __slots__ = ('error_code', 'error_message', 'group_id', 'group_state', 'group_epoch', 'assignment_epoch', 'topology', 'members', 'authorized_operations')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('error_message', 'string', None, nullable_since=0),
        Field('group_id', 'string', ''),
        Field('group_state', 'string', ''),
        Field('group_epoch', 'int32', 0),
        Field('assignment_epoch', 'int32', 0),
        Field('topology', 'struct', None, struct=Topology, nullable_since=0),
        Field('members', 'struct', (), array=True, struct=Member),
        Field('authorized_operations', 'int32', -2147483648),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = '',
        group_state: str = '',
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        topology: Topology | None = None,
        members: Sequence[Member] = (),
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.topology = topology
        self.members = members
        self.authorized_operations = authorized_operations


class StreamsGroupDescribeResponse(Message):
    __slots__ = ('throttle_time_ms', 'groups')
    API_KEY: ClassVar[int] = 89
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('groups', 'struct', (), array=True, struct=DescribedGroup),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups
