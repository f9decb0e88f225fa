"""Which broker a request is for; and how one for several is taken apart, and its answers put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)
from barnabas.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from barnabas.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from barnabas.protocol.schema import Message

GROUP, TRANSACTION = 0, 1
NO_LEADER = ErrorCode.LEADER_NOT_AVAILABLE


@dataclass(frozen=True, slots=True)
class Leader:
    broker_id: int
    epoch: int


Leaders: TypeAlias = Mapping[TopicPartition, Leader | None]


@dataclass(frozen=True, slots=True)
class Anybody:
    pass


@dataclass(frozen=True, slots=True)
class Everybody:
    pass


@dataclass(frozen=True, slots=True)
class TheLeaders:
    places: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class TheCoordinator:
    key: str
    kind: int


Addressee: TypeAlias = Anybody | Everybody | TheLeaders | TheCoordinator

# How the key of a coordinator is found in a request.
_GROUPS: Mapping[int, Callable[[Any], str]] = {
    8: lambda request: request.group_id,
    9: lambda request: request.groups[0].group_id,
    11: lambda request: request.group_id,
    12: lambda request: request.group_id,
    13: lambda request: request.group_id,
    14: lambda request: request.group_id,
    15: lambda request: request.groups[0],
    28: lambda request: request.group_id,
    68: lambda request: request.group_id,
    69: lambda request: request.group_ids[0],
}
_TRANSACTIONS: Mapping[int, Callable[[Any], str | None]] = {
    22: lambda request: request.transactional_id,
    24: lambda request: request.v3_and_below_transactional_id,
    25: lambda request: request.transactional_id,
    26: lambda request: request.transactional_id,
}


def addressee_of(request: Message) -> Addressee:
    if isinstance(request, ProduceRequest | FetchRequest | ListOffsetsRequest):
        return TheLeaders(tuple(place for place, _ in _pieces(request)))
    if isinstance(request, ListTransactionsRequest):
        return Everybody()
    if request.API_KEY in _GROUPS:
        return TheCoordinator(_GROUPS[request.API_KEY](request), GROUP)
    key = _TRANSACTIONS[request.API_KEY](request) if request.API_KEY in _TRANSACTIONS else None
    return Anybody() if key is None else TheCoordinator(key, TRANSACTION)


# --- by leader ---------------------------------------------------------------------------------------------


def _pieces(
    request: ProduceRequest | FetchRequest | ListOffsetsRequest,
) -> Iterator[tuple[TopicPartition, Any]]:
    match request:
        case ProduceRequest():
            for produced in request.topic_data:
                for data in produced.partition_data:
                    yield TopicPartition(produced.name, data.index), data
        case FetchRequest():
            for fetched in request.topics:
                for wish in fetched.partitions:
                    yield TopicPartition(fetched.topic, wish.partition), wish
        case ListOffsetsRequest():
            for listed in request.topics:
                for asked in listed.partitions:
                    yield TopicPartition(listed.name, asked.partition_index), asked


def split(
    request: Message, leaders: Leaders, nearby: Mapping[TopicPartition, int]
) -> tuple[dict[int, Message], list[TopicPartition]]:
    """What each leader gets, or a replica nearby, and the partitions that have no leader."""
    assert isinstance(request, ProduceRequest | FetchRequest | ListOffsetsRequest)
    shares: dict[int, dict[str, list[Any]]] = {}
    orphans = []
    for place, piece in _pieces(request):
        leader = leaders[place]
        if leader is None:
            orphans.append(place)
            continue
        if not isinstance(request, ProduceRequest):
            piece.current_leader_epoch = leader.epoch  # whoever knows of a newer one refuses to answer
        shares.setdefault(nearby.get(place, leader.broker_id), {}).setdefault(place.topic, []).append(piece)
    return {leader: _share(request, topics) for leader, topics in shares.items()}, orphans


def _share(
    request: ProduceRequest | FetchRequest | ListOffsetsRequest, topics: Mapping[str, list[Any]]
) -> Message:
    match request:
        case ProduceRequest():
            produced = [TopicProduceData(name=name, partition_data=data) for name, data in topics.items()]
            return ProduceRequest(request.transactional_id, request.acks, request.timeout_ms, produced)
        case FetchRequest():
            # One session per broker would need a place to keep them: these clients do without.
            return FetchRequest(
                max_wait_ms=request.max_wait_ms,
                min_bytes=request.min_bytes,
                max_bytes=request.max_bytes,
                isolation_level=request.isolation_level,
                session_epoch=-1,
                topics=[FetchTopic(topic=name, partitions=wishes) for name, wishes in topics.items()],
                rack_id=request.rack_id,
            )
        case ListOffsetsRequest():
            listed = [ListOffsetsTopic(name, asked) for name, asked in topics.items()]
            return ListOffsetsRequest(request.replica_id, request.isolation_level, listed, request.timeout_ms)


def answer_for_orphans(request: Message, orphans: Sequence[TopicPartition]) -> Message:
    """What a client tells itself about partitions without a leader."""
    topics: dict[str, list[int]] = {}
    for place in orphans:
        topics.setdefault(place.topic, []).append(place.partition)
    match request:
        case ProduceRequest():
            return ProduceResponse(
                [
                    TopicProduceResponse(
                        name=name,
                        partition_responses=[PartitionProduceResponse(index, NO_LEADER) for index in indexes],
                    )
                    for name, indexes in topics.items()
                ]
            )
        case FetchRequest():
            return FetchResponse(
                responses=[
                    FetchableTopicResponse(
                        topic=name, partitions=[PartitionData(index, NO_LEADER, -1) for index in indexes]
                    )
                    for name, indexes in topics.items()
                ]
            )
        case _:
            return ListOffsetsResponse(
                topics=[
                    ListOffsetsTopicResponse(
                        name, [ListOffsetsPartitionResponse(index, NO_LEADER) for index in indexes]
                    )
                    for name, indexes in topics.items()
                ]
            )


def merge(answers: Sequence[Message]) -> Message:
    """One answer in place of several."""
    first = answers[0]
    for other in answers[1:]:
        match first, other:
            case ProduceResponse(), ProduceResponse():
                first.responses = [*first.responses, *other.responses]
            case FetchResponse(), FetchResponse():
                first.responses = [*first.responses, *other.responses]
                first.error_code = first.error_code or other.error_code
            case ListOffsetsResponse(), ListOffsetsResponse():
                first.topics = [*first.topics, *other.topics]
            case ListTransactionsResponse(), ListTransactionsResponse():
                first.transaction_states = [*first.transaction_states, *other.transaction_states]
                first.error_code = first.error_code or other.error_code
            case _:
                raise AssertionError(f"{type(first).__name__} comes from one broker")
    return first


# --- what an answer says about where to ask ----------------------------------------------------------------

_ELSEWHERE = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
    }
)


def points_elsewhere(answer: Message) -> bool:
    return not _ELSEWHERE.isdisjoint(_codes(answer))


def _codes(message: Message) -> Iterator[int]:
    for field in message.FIELDS:
        value = getattr(message, field.name)
        if field.name.endswith("error_code"):  # AddPartitionsToTxn says `partition_error_code`
            yield value
        elif field.struct is not None and value is not None:
            for one in value if field.array else (value,):
                yield from _codes(one)
