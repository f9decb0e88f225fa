"""Metadata v0–v13 (KIP-4, KIP-516 topic ids, KIP-430 authorised operations).

A missing topic is created when both the request and `auto.create.topics.enable` allow it; its first answer is
LEADER_NOT_AVAILABLE, and the client asks again. Topics are encoded once per image and version: a client that
asks for everything must not hold the loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from barnabas.broker import operations
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import ZERO_UUID, topic_name_problem
from barnabas.model.image import ClusterImage, PartitionImage, TopicImage
from barnabas.protocol import codec
from barnabas.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: MetadataRequest) -> MetadataResponse:
    image = node.image
    listener = context.session.listener
    with_operations = request.include_topic_authorized_operations
    wanted = request.topics
    if wanted is None or (context.version == 0 and not wanted):
        topics = [
            _encoded(node, image.topics[name], context.version, with_operations)
            for name in image.sorted_topic_names
        ]
    else:
        topics = [_one(node, context, request, topic) for topic in wanted]
    response = MetadataResponse(
        brokers=[
            MetadataResponseBroker(broker.id, endpoint.host, endpoint.port, broker.rack)
            for broker in image.active_brokers
            if (endpoint := broker.endpoint(listener)) is not None
        ],
        cluster_id=image.cluster_id,
        controller_id=image.controller_id,
        topics=topics,
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = operations.CLUSTER
    return response


def _one(
    node: Node, context: Context, request: MetadataRequest, wanted: MetadataRequestTopic
) -> MetadataResponseTopic:
    if wanted.topic_id != ZERO_UUID:
        topic = node.image.topic_by_id(wanted.topic_id)
        if topic is None:
            return MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, wanted.topic_id)
    else:
        name = wanted.name or ""
        topic = node.image.topics.get(name)
        if topic is None:
            allowed = request.allow_auto_topic_creation or context.version < 4
            return MetadataResponseTopic(_missing(node, name, allowed), name)
    return _encoded(node, topic, context.version, request.include_topic_authorized_operations)


def _missing(node: Node, name: str, may_create: bool) -> ErrorCode:
    if topic_name_problem(name) is not None:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    if not (may_create and node.auto_creation.request(name)):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.LEADER_NOT_AVAILABLE


def _encoded(node: Node, topic: TopicImage, version: int, with_operations: bool) -> MetadataResponseTopic:
    """The encoder lets encoded elements pass; the cache holds for as long as the image of the topic does."""
    key = (topic.name, version, with_operations)
    known = node.encoded_topics.get(key)
    if known is None or known[0] is not topic:
        data = codec.encode(_describe(node.image, topic, with_operations), version)
        known = node.encoded_topics[key] = (topic, data)
    return cast(MetadataResponseTopic, known[1])


def _describe(image: ClusterImage, topic: TopicImage, with_operations: bool) -> MetadataResponseTopic:
    described = MetadataResponseTopic(
        0, topic.name, topic.id, topic.is_internal, [_partition(image, p) for p in topic.partitions]
    )
    if with_operations:
        described.topic_authorized_operations = operations.TOPIC
    return described


def _partition(image: ClusterImage, partition: PartitionImage) -> MetadataResponsePartition:
    error = ErrorCode.NONE if image.is_active(partition.leader) else ErrorCode.LEADER_NOT_AVAILABLE
    return MetadataResponsePartition(
        error,
        partition.index,
        partition.leader,
        partition.leader_epoch,
        partition.replicas,
        partition.isr,
        [replica for replica in partition.replicas if not image.is_active(replica)],
    )
