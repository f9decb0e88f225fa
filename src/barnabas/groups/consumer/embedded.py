"""What consumers of the classic protocol write into JoinGroup and read from SyncGroup."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Set

from barnabas.groups.assignors import Partitions
from barnabas.groups.consumer.member import Owned
from barnabas.model.image import ClusterImage
from barnabas.protocol import codec
from barnabas.protocol.codec import MalformedError
from barnabas.protocol.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from barnabas.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription

_VERSION = struct.Struct(">h")
_NEWEST = 3  # a newer one begins as this does


def _version(data: bytes) -> int:
    if len(data) < _VERSION.size:
        raise MalformedError("An embedded consumer protocol without a version")
    version = int(_VERSION.unpack_from(data)[0])
    if version < 0:
        raise MalformedError(f"Version {version} of an embedded consumer protocol")
    return min(version, _NEWEST)


def read_subscription(data: bytes) -> ConsumerProtocolSubscription:
    return codec.decode(ConsumerProtocolSubscription, _version(data), data, _VERSION.size)


def read_assignment(data: bytes) -> ConsumerProtocolAssignment:
    """Nothing at all is what a member has that was never assigned anything."""
    if not data:
        return ConsumerProtocolAssignment()
    return codec.decode(ConsumerProtocolAssignment, _version(data), data, _VERSION.size)


def write_assignment(owned: Owned, image: ClusterImage, like: bytes) -> bytes:
    """In the version of the member's own subscription."""
    version = _version(like)
    rows = [
        TopicPartition(image.topic_names[topic_id], sorted(partitions))
        for topic_id, partitions in owned.items()
        if topic_id in image.topic_names
    ]
    return _VERSION.pack(version) + codec.encode(ConsumerProtocolAssignment(rows), version)


def assigned_partitions(assignment: ConsumerProtocolAssignment, image: ClusterImage) -> Partitions:
    return {
        topic.id: frozenset(row.partitions)
        for row in assignment.assigned_partitions
        if row.partitions and (topic := image.topics.get(row.topic)) is not None
    }


def owned_partitions(
    subscription: ConsumerProtocolSubscription, image: ClusterImage
) -> Mapping[bytes, Set[int]]:
    return {
        topic.id: frozenset(row.partitions)
        for row in subscription.owned_partitions
        if (topic := image.topics.get(row.topic)) is not None
    }
