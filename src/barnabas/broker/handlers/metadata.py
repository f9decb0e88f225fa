"""Metadata v0–v13 (KIP-4, KIP-516 topic ids, KIP-430 authorised operations).

A missing topic is created when both the request and `auto.create.topics.enable` allow it; its first answer is
LEADER_NOT_AVAILABLE, and the client asks again. Topics are encoded once per image and version: a client that
asks for everything must not hold the loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from barnabas.broker import operations
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS, ZERO_UUID, topic_name_problem
from barnabas.model.image import NO_LEADER, ClusterImage, PartitionImage, TopicImage
from barnabas.protocol import codec
from barnabas.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_IDS_SINCE = 12
_LISTENERS_SINCE = 6  # clients know that a leader may have no such listener


class Asked(NamedTuple):
    """What a topic's description depends on, beside the topic and the brokers."""

    version: int
    listener: str
    with_operations: bool


def handle(node: Node, context: Context, request: MetadataRequest) -> MetadataResponse:
    problem = _problem(context.version, request)
    if problem is not None:
        return _refuse(request, problem)
    image = node.image
    listener = context.session.listener
    response = MetadataResponse(
        brokers=[
            MetadataResponseBroker(broker.id, endpoint.host, endpoint.port, broker.rack)
            for broker in image.active_brokers
            if (endpoint := broker.endpoint(listener)) is not None
        ],
        cluster_id=image.cluster_id,
        controller_id=node.controller_link.controller_id_for_clients,
        topics=_topics(node, context, request),
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = operations.CLUSTER
    return response


def _problem(version: int, request: MetadataRequest) -> ErrorCode | None:
    """Ids came with version 10 and work since version 12. Where no topic has one, all must have names."""
    wanted = request.topics or ()
    with_id = any(topic.topic_id != ZERO_UUID for topic in wanted)
    nameless = any(topic.name is None for topic in wanted)
    if version < _IDS_SINCE and (with_id or nameless):
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.UNKNOWN_SERVER_ERROR if nameless and not with_id else None


def _refuse(request: MetadataRequest, code: ErrorCode) -> MetadataResponse:
    rows = [MetadataResponseTopic(code, topic.name or "", topic.topic_id) for topic in request.topics or ()]
    return MetadataResponse(topics=rows, error_code=code)


def _topics(node: Node, context: Context, request: MetadataRequest) -> list[MetadataResponseTopic]:
    """Each topic once. Where one is named by id, all that are named otherwise are left out."""
    image, version, wanted = node.image, context.version, request.topics
    with_operations = request.include_topic_authorized_operations
    asked = Asked(version, context.session.listener, with_operations)
    if wanted is None or (version == 0 and not wanted):
        return [_encoded(node, image.topics[name], asked) for name in image.sorted_topic_names]
    ids = dict.fromkeys(topic.topic_id for topic in wanted if topic.topic_id != ZERO_UUID)
    if ids:
        return [
            MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id)
            if (topic := image.topic_by_id(topic_id)) is None
            else _encoded(node, topic, asked)
            for topic_id in ids
        ]
    may_create = request.allow_auto_topic_creation or version < 4
    names = dict.fromkeys(topic.name or "" for topic in wanted)
    return [
        _missing_topic(node, name, may_create, with_operations)
        if (topic := image.topics.get(name)) is None
        else _encoded(node, topic, asked)
        for name in names
    ]


def _missing_topic(node: Node, name: str, may_create: bool, with_operations: bool) -> MetadataResponseTopic:
    code = _missing(node, name, may_create)
    row = MetadataResponseTopic(code, name, is_internal=name in INTERNAL_TOPICS)
    if with_operations:
        row.topic_authorized_operations = operations.TOPIC
    return row


def _missing(node: Node, name: str, may_create: bool) -> ErrorCode:
    if topic_name_problem(name) is not None:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    if not (may_create and node.auto_creation.request(name)):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.LEADER_NOT_AVAILABLE


def _encoded(node: Node, topic: TopicImage, asked: Asked) -> MetadataResponseTopic:
    """The encoder lets encoded elements pass; the cache holds for as long as the image of the topic does, and
    the node forgets it when brokers come or go."""
    key = (topic.name, asked)
    known = node.encoded_topics.get(key)
    if known is None or known[0] is not topic:
        data = codec.encode(_describe(node.image, topic, asked), asked.version)
        known = node.encoded_topics[key] = (topic, data)
    return cast(MetadataResponseTopic, known[1])


def _describe(image: ClusterImage, topic: TopicImage, asked: Asked) -> MetadataResponseTopic:
    described = MetadataResponseTopic(
        0, topic.name, topic.id, topic.is_internal, [_partition(image, p, asked) for p in topic.partitions]
    )
    if asked.with_operations:
        described.topic_authorized_operations = operations.TOPIC
    return described


def _partition(image: ClusterImage, partition: PartitionImage, asked: Asked) -> MetadataResponsePartition:
    """A leader that cannot be reached is not named: clients ask again instead of trying it."""
    leader = image.brokers.get(partition.leader)
    error, leader_id = ErrorCode.NONE, partition.leader
    if leader is None or leader.fenced or leader.endpoint(asked.listener) is None:
        is_absent = leader is None or leader.fenced or asked.version < _LISTENERS_SINCE
        error = ErrorCode.LEADER_NOT_AVAILABLE if is_absent else ErrorCode.LISTENER_NOT_FOUND
        leader_id = NO_LEADER
    return MetadataResponsePartition(
        error,
        partition.index,
        leader_id,
        partition.leader_epoch,
        partition.replicas,
        partition.isr,
        [replica for replica in partition.replicas if not image.is_active(replica)],
    )
