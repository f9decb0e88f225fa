"""Requests to coordinators, built with kio's classes, for what no client library would send."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.support.requests import init_producer_id_request, request_module
from tests.support.waiting import eventually
from tests.support.wire import Connection

OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR, JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP = range(8, 15)
LIST_GROUPS, INIT_PRODUCER_ID, ADD_PARTITIONS, ADD_OFFSETS, END_TXN, TXN_OFFSET_COMMIT = (
    16,
    22,
    24,
    25,
    26,
    28,
)
DELETE_GROUPS, CONSUMER_HEARTBEAT = 42, 68
MEMBER_ID_REQUIRED = 79
NOT_READY = frozenset({14, 15, 16})  # loading, not available, not here


def find_coordinator_request(*keys: str, kind: int = 0) -> Any:
    return request_module(FIND_COORDINATOR, 4).FindCoordinatorRequest(key_type=kind, coordinator_keys=keys)


def join_request(
    group: str,
    member: str = "",
    *,
    session_ms: int = 10_000,
    rebalance_ms: int = 10_000,
    protocols: tuple[str, ...] = ("range",),
    protocol_type: str = "consumer",
    instance: str | None = None,
) -> Any:
    schema = request_module(JOIN_GROUP, 9)
    return schema.JoinGroupRequest(
        group_id=group,
        session_timeout=timedelta(milliseconds=session_ms),
        rebalance_timeout=timedelta(milliseconds=rebalance_ms),
        member_id=member,
        group_instance_id=instance,
        protocol_type=protocol_type,
        protocols=tuple(schema.JoinGroupRequestProtocol(name=name, metadata=b"") for name in protocols),
    )


def sync_request(
    group: str, generation: int, member: str, assignments: dict[str, bytes] | None = None
) -> Any:
    schema = request_module(SYNC_GROUP, 5)
    rows = tuple(
        schema.SyncGroupRequestAssignment(member_id=name, assignment=data)
        for name, data in (assignments or {}).items()
    )
    return schema.SyncGroupRequest(
        group_id=group,
        generation_id=generation,
        member_id=member,
        protocol_type="consumer",
        protocol_name="range",
        assignments=rows,
    )


def heartbeat_request(group: str, generation: int, member: str, instance: str | None = None) -> Any:
    return request_module(HEARTBEAT, 4).HeartbeatRequest(
        group_id=group, generation_id=generation, member_id=member, group_instance_id=instance
    )


def leave_request(group: str, *members: str) -> Any:
    schema = request_module(LEAVE_GROUP, 5)
    return schema.LeaveGroupRequest(
        group_id=group, members=tuple(schema.MemberIdentity(member_id=member) for member in members)
    )


def commit_request(
    group: str, *places: tuple[str, int], generation: int = -1, member: str = "", offset: int = 5
) -> Any:
    schema = request_module(OFFSET_COMMIT, 9)
    rows = tuple(
        schema.OffsetCommitRequestTopic(
            name=topic,
            partitions=(
                schema.OffsetCommitRequestPartition(
                    partition_index=index, committed_offset=offset, committed_metadata=""
                ),
            ),
        )
        for topic, index in places
    )
    return schema.OffsetCommitRequest(
        group_id=group, generation_id_or_member_epoch=generation, member_id=member, topics=rows
    )


def commit_codes(answer: Any) -> list[int]:
    return [int(row.error_code) for topic in answer.topics for row in topic.partitions]


def consumer_heartbeat_request(
    group: str,
    member: str,
    epoch: int,
    *,
    topics: tuple[str, ...] | None = None,
    regex: str | None = None,
    assignor: str | None = None,
    instance: str | None = None,
    rebalance_ms: int = -1,
    owned: tuple[Any, ...] | None = None,
) -> Any:
    return request_module(CONSUMER_HEARTBEAT, 1).ConsumerGroupHeartbeatRequest(
        group_id=group,
        member_id=member,
        member_epoch=epoch,
        instance_id=instance,
        rebalance_timeout=timedelta(milliseconds=rebalance_ms),
        subscribed_topic_names=topics,
        subscribed_topic_regex=regex,
        server_assignor=assignor,
        topic_partitions=owned,
    )


def init_transactions_request(
    transactional_id: str, *, timeout_ms: int = 60_000, producer_id: int = -1, epoch: int = -1
) -> Any:
    return request_module(INIT_PRODUCER_ID, 4).InitProducerIdRequest(
        transactional_id=transactional_id,
        transaction_timeout=timedelta(milliseconds=timeout_ms),
        producer_id=producer_id,
        producer_epoch=epoch,
    )


def add_partitions_request(
    transactional_id: str, producer_id: int, epoch: int, *places: tuple[str, int]
) -> Any:
    schema = request_module(ADD_PARTITIONS, 3)
    rows = tuple(schema.AddPartitionsToTxnTopic(name=topic, partitions=(index,)) for topic, index in places)
    return schema.AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=transactional_id,
        v3_and_below_producer_id=producer_id,
        v3_and_below_producer_epoch=epoch,
        v3_and_below_topics=rows,
    )


def add_offsets_request(transactional_id: str, producer_id: int, epoch: int, group: str) -> Any:
    return request_module(ADD_OFFSETS, 3).AddOffsetsToTxnRequest(
        transactional_id=transactional_id, producer_id=producer_id, producer_epoch=epoch, group_id=group
    )


def end_request(
    transactional_id: str, producer_id: int, epoch: int, *, commit: bool, version: int = 3
) -> Any:
    return request_module(END_TXN, version).EndTxnRequest(
        transactional_id=transactional_id, producer_id=producer_id, producer_epoch=epoch, committed=commit
    )


def txn_commit_request(
    transactional_id: str,
    group: str,
    producer_id: int,
    epoch: int,
    place: tuple[str, int],
    *,
    generation: int = -1,
    member: str = "",
) -> Any:
    schema = request_module(TXN_OFFSET_COMMIT, 3)
    row = schema.TxnOffsetCommitRequestPartition(
        partition_index=place[1], committed_offset=7, committed_metadata=""
    )
    return schema.TxnOffsetCommitRequest(
        transactional_id=transactional_id,
        group_id=group,
        producer_id=producer_id,
        producer_epoch=epoch,
        generation_id=generation,
        member_id=member,
        topics=(schema.TxnOffsetCommitRequestTopic(name=place[0], partitions=(row,)),),
    )


def await_coordinators(connection: Connection, key: str) -> None:
    """A library would ask again until the coordinator of this group and transaction is there."""
    for kind in (0, 1):
        eventually(lambda kind=kind: _is_found(connection, key, kind))  # type: ignore[misc]
    eventually(lambda: connection.ask(heartbeat_request(key, 0, "x")).error_code not in NOT_READY)
    probe = end_request(key, 0, 0, commit=False)
    eventually(lambda: connection.ask(probe).error_code not in NOT_READY)
    eventually(lambda: connection.ask(init_producer_id_request()).error_code not in NOT_READY)


def _is_found(connection: Connection, key: str, kind: int) -> bool:
    (found,) = connection.ask(find_coordinator_request(key, kind=kind)).coordinators
    return bool(found.error_code == 0)


def join(connection: Connection, group: str, **details: Any) -> Any:
    """Both steps: be given an id, join with it. Returns the second answer."""
    first = connection.ask(join_request(group, **details))
    assert first.error_code == MEMBER_ID_REQUIRED, first
    return connection.ask(join_request(group, first.member_id, **details))


def join_alone(connection: Connection, group: str, **details: Any) -> Any:
    """The only member of a stable group: joined, and synced as its leader."""
    joined = join(connection, group, **details)
    assert joined.error_code == 0, joined
    synced = connection.ask(
        sync_request(group, joined.generation_id, joined.member_id, {joined.member_id: b"all"})
    )
    assert synced.error_code == 0, synced
    return joined
