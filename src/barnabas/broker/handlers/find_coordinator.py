"""FindCoordinator v0–v6 (KIP-699 many keys). Key types: 0 groups, 1 transactional ids, 2 share groups (v6).

The first question creates the internal topic, and is answered when that is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.coordinators.internal_topics import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from barnabas.broker.dispatch import Context
from barnabas.coordination.hashing import partition_of
from barnabas.model.endpoint import Endpoint
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_TOPIC_OF_TYPE = {0: OFFSETS_TOPIC, 1: TRANSACTIONS_TOPIC}
_SHARE = 2
_MANY_SINCE = 4


def handle(node: Node, context: Context, request: FindCoordinatorRequest) -> FindCoordinatorResponse | None:
    topic = _TOPIC_OF_TYPE.get(request.key_type)
    if topic is None or topic in node.image.topics or not _keys(context, request):
        return _answer(node, context, request)
    node.internal_topics.create(topic, lambda: context.reply(_answer(node, context, request)))
    return None


def _keys(context: Context, request: FindCoordinatorRequest) -> list[str]:
    return list(request.coordinator_keys) if context.version >= _MANY_SINCE else [request.key]


def _answer(node: Node, context: Context, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    rows = [_find(node, context, request.key_type, key) for key in _keys(context, request)]
    if context.version >= _MANY_SINCE:
        return FindCoordinatorResponse(coordinators=rows)
    (row,) = rows
    code = ErrorCode(row.error_code)
    return FindCoordinatorResponse(
        error_code=code,
        error_message=code.sentence or code.name,  # Kafka's says "NONE" when all is well
        node_id=row.node_id,
        host=row.host,
        port=row.port,
    )


def _find(node: Node, context: Context, key_type: int, key: str) -> Coordinator:
    try:
        broker_id, endpoint = _coordinator(node, context, key_type, key)
    except ApiError as error:
        # Kafka has words only for a type that does not exist.
        message = "" if key_type in {*_TOPIC_OF_TYPE, _SHARE} else error.code.sentence
        return Coordinator(key, -1, "", -1, error.code, message)
    return Coordinator(key, broker_id, endpoint.host, endpoint.port)


def _coordinator(node: Node, context: Context, key_type: int, key: str) -> tuple[int, Endpoint]:
    """The broker that leads the partition where this key is remembered."""
    name = _TOPIC_OF_TYPE.get(key_type)
    if name is None:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    topic = node.image.topics.get(name)
    if topic is not None:
        leader = topic.partitions[partition_of(key, len(topic.partitions))].leader
        broker = node.image.brokers.get(leader)
        endpoint = broker.endpoint(context.session.listener) if broker is not None else None
        if broker is not None and endpoint is not None:
            return broker.id, endpoint
    raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
