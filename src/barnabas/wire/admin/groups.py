"""Groups: which there are, who is in them, and deleting them. Their offsets are in `group_offsets`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol import codec
from barnabas.protocol.messages import consumer_group_describe as modern
from barnabas.protocol.messages import describe_groups as classic
from barnabas.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from barnabas.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from barnabas.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from barnabas.wire.cluster import Cluster
from barnabas.wire.codes import check, known
from barnabas.wire.coordinators import Coordinator, KeyType, from_coordinators
from barnabas.wire.routing import from_every_broker

CONSUMER_PROTOCOLS = ("consumer", "")  # without members a group has offsets and no protocol
_CONSUMER_GROUP_DESCRIBE = 69
_CLASSIC_MEMBER, _CONSUMER_MEMBER = 0, 1


@dataclass(frozen=True, slots=True)
class Member:
    """None stands for what only groups of the newer protocol know."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    assignment: frozenset[TopicPartition]
    target: frozenset[TopicPartition] | None = None
    epoch: int | None = None
    upgraded: bool | None = None


@dataclass(frozen=True, slots=True)
class Group:
    group_id: str
    coordinator: Coordinator
    state: str
    assignor: str
    members: tuple[Member, ...]
    epoch: int | None = None
    assignment_epoch: int | None = None


def list_groups(
    cluster: Cluster, states: Collection[str] = (), types: Collection[str] = ()
) -> list[ListedGroup]:
    """Every group, of these states and types if any are named: each broker knows those it coordinates."""
    request = ListGroupsRequest(sorted(states), sorted(types))

    def ask(node_id: int) -> Iterable[ListedGroup]:
        answer = cluster.call_once(request, ListGroupsResponse, node_id)
        check(answer.error_code)
        return answer.groups

    # While a group changes its coordinator two brokers may name it.
    found = {row.group_id: row for row in from_every_broker(cluster, ask)}
    return sorted(found.values(), key=lambda row: row.group_id)


def list_consumer_groups(
    cluster: Cluster, states: Collection[str] = (), types: Collection[str] = ()
) -> list[ListedGroup]:
    return [row for row in list_groups(cluster, states, types) if row.protocol_type in CONSUMER_PROTOCOLS]


def describe(cluster: Cluster, group_ids: Iterable[str]) -> dict[str, Group | ApiError]:
    """Each group, or why there is no telling. Who asks cannot know a group's protocol: the newer one is asked
    for first, and groups it does not know are asked for again in the classic way."""

    def ask(coordinator: Coordinator, keys: list[str]) -> Iterator[tuple[str, Group | ApiError]]:
        left = keys
        if cluster.connection(coordinator.node_id).serves(_CONSUMER_GROUP_DESCRIBE):
            left = []
            for key, answer in _describe_modern(cluster, coordinator, keys):
                if isinstance(answer, ApiError) and answer.code in _NOT_OF_THE_NEWER_PROTOCOL:
                    left.append(key)
                else:
                    yield key, answer
        if left:
            yield from _describe_classic(cluster, coordinator, left)

    return from_coordinators(cluster, group_ids, KeyType.GROUP, ask)


_NOT_OF_THE_NEWER_PROTOCOL = frozenset({ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION})


def _describe_modern(
    cluster: Cluster, coordinator: Coordinator, keys: list[str]
) -> Iterator[tuple[str, Group | ApiError]]:
    request = modern.ConsumerGroupDescribeRequest(keys)
    answer = cluster.call_once(request, modern.ConsumerGroupDescribeResponse, coordinator.node_id)
    for row in answer.groups:
        if row.error_code:
            yield row.group_id, ApiError(known(row.error_code), row.error_message or None)
            continue
        members = tuple(_modern_member(member) for member in row.members)
        yield (
            row.group_id,
            Group(
                row.group_id,
                coordinator,
                row.group_state,
                row.assignor_name,
                members,
                row.group_epoch,
                row.assignment_epoch,
            ),
        )


def _modern_member(row: modern.Member) -> Member:
    kinds = {_CLASSIC_MEMBER: False, _CONSUMER_MEMBER: True}
    return Member(
        row.member_id,
        row.instance_id,
        row.client_id,
        row.client_host,
        _partitions(row.assignment),
        _partitions(row.target_assignment),
        row.member_epoch,
        kinds.get(row.member_type),
    )


def _partitions(assignment: modern.Assignment | None) -> frozenset[TopicPartition]:
    topics = () if assignment is None else assignment.topic_partitions
    return frozenset(
        TopicPartition(topic.topic_name, index) for topic in topics for index in topic.partitions
    )


def _describe_classic(
    cluster: Cluster, coordinator: Coordinator, keys: list[str]
) -> Iterator[tuple[str, Group | ApiError]]:
    request = classic.DescribeGroupsRequest(keys)
    answer = cluster.call_once(request, classic.DescribeGroupsResponse, coordinator.node_id)
    for row in answer.groups:
        if row.error_code:
            yield row.group_id, ApiError(known(row.error_code), row.error_message or None)
        elif row.protocol_type not in CONSUMER_PROTOCOLS:
            problem = f"GroupId {row.group_id} is not a consumer group ({row.protocol_type})."
            yield row.group_id, ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, problem)
        else:
            members = tuple(_classic_member(member) for member in row.members)
            yield (
                row.group_id,
                Group(row.group_id, coordinator, row.group_state, row.protocol_data, members),
            )


def _classic_member(row: classic.DescribedGroupMember) -> Member:
    return Member(
        row.member_id,
        row.group_instance_id,
        row.client_id,
        row.client_host,
        _classic_assignment(bytes(row.member_assignment)),
    )


def _classic_assignment(data: bytes) -> frozenset[TopicPartition]:
    """Two bytes say the version; every version begins like the first. The bytes are the group leader's, a
    client's: what makes no sense is an assignment nobody can name."""
    if len(data) < 2:
        return frozenset()
    try:
        assignment = codec.decode(ConsumerProtocolAssignment, 0, data, 2)
    except codec.MalformedError:
        return frozenset()
    return frozenset(
        TopicPartition(topic.topic, index)
        for topic in assignment.assigned_partitions
        for index in topic.partitions
    )


def delete(cluster: Cluster, group_ids: Iterable[str]) -> dict[str, ApiError | None]:
    """Delete empty groups; None for each that is gone now."""

    def ask(coordinator: Coordinator, keys: list[str]) -> Iterator[tuple[str, ApiError | None]]:
        answer = cluster.call_once(DeleteGroupsRequest(keys), DeleteGroupsResponse, coordinator.node_id)
        for row in answer.results:
            yield row.group_id, ApiError(known(row.error_code)) if row.error_code else None

    return from_coordinators(cluster, group_ids, KeyType.GROUP, ask)
