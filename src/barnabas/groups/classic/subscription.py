"""What consumers write into their JoinGroup metadata, as far as the coordinator reads it: which topics."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from barnabas.protocol import codec
from barnabas.protocol.codec import MalformedError
from barnabas.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription

CONSUMER_PROTOCOL = "consumer"

_VERSION = struct.Struct(">h")


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """None if one of them is not what consumers write: then nobody knows."""
    topics: set[str] = set()
    try:
        for one in metadata:
            topics.update(_topics(one))
    except MalformedError:
        return None
    return frozenset(topics)


def _topics(metadata: bytes) -> Iterable[str]:
    if len(metadata) < _VERSION.size or _VERSION.unpack_from(metadata)[0] < 0:
        raise MalformedError("A subscription without a version")
    # Every version begins as version 0 does, and version 0 has the topics.
    return codec.decode(ConsumerProtocolSubscription, 0, metadata, _VERSION.size).topics
