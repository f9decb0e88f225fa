"""From an internal topic's record to its classes and back."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

from barnabas.model.ids import ZERO_UUID
from barnabas.protocol import codec
from barnabas.protocol.codec import MalformedError
from barnabas.protocol.internal import groups, transactions
from barnabas.protocol.schema import Message
from barnabas.protocol.varint import unsigned

_VERSION = struct.Struct(">h")
_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_TYPE_AND_LENGTH = struct.Struct(">hh")
_OFFSET = struct.Struct(">hqi")
_NO_TAGS = b"\0"
_TOPIC_ID_TAG = b"\1\0\x10"  # one tag; its number; its size


class Kind(NamedTuple):
    """A type of record: its number, its classes, the newest value format we read, the one we write."""

    type_id: int
    key: type[Message]
    value: type[Message]
    newest: int = 0
    written: int = 0


CONSUMER_OFFSETS = (
    Kind(0, groups.OffsetCommitKey, groups.OffsetCommitValue, 4, 4),
    Kind(1, groups.OffsetCommitKey, groups.OffsetCommitValue, 4, 4),
    Kind(2, groups.GroupMetadataKey, groups.GroupMetadataValue, 4, 3),
    Kind(3, groups.ConsumerGroupMetadataKey, groups.ConsumerGroupMetadataValue),
    Kind(4, groups.ConsumerGroupPartitionMetadataKey, groups.ConsumerGroupPartitionMetadataValue),
    Kind(5, groups.ConsumerGroupMemberMetadataKey, groups.ConsumerGroupMemberMetadataValue),
    Kind(
        6,
        groups.ConsumerGroupTargetAssignmentMetadataKey,
        groups.ConsumerGroupTargetAssignmentMetadataValue,
    ),
    Kind(
        7,
        groups.ConsumerGroupTargetAssignmentMemberKey,
        groups.ConsumerGroupTargetAssignmentMemberValue,
    ),
    Kind(
        8,
        groups.ConsumerGroupCurrentMemberAssignmentKey,
        groups.ConsumerGroupCurrentMemberAssignmentValue,
    ),
    Kind(16, groups.ConsumerGroupRegularExpressionKey, groups.ConsumerGroupRegularExpressionValue),
)
TRANSACTION_STATE = (Kind(0, transactions.TransactionLogKey, transactions.TransactionLogValue, 1, 1),)

KINDS_OF_TOPIC: Mapping[str, Mapping[int, Kind]] = {
    "__consumer_offsets": {kind.type_id: kind for kind in CONSUMER_OFFSETS},
    "__transaction_state": {kind.type_id: kind for kind in TRANSACTION_STATE},
}
_KIND_OF_KEY: Mapping[type[Message], Kind] = {
    kind.key: kind for kind in (*CONSUMER_OFFSETS, *TRANSACTION_STATE)
}


def encode_entry(key: Message, value: Message | None) -> tuple[bytes, bytes | None]:
    if isinstance(value, groups.OffsetCommitValue) and value.expire_timestamp == -1:
        assert isinstance(key, groups.OffsetCommitKey)
        return _offset_key(key), _offset_value(value)
    kind = _KIND_OF_KEY[type(key)]
    key_bytes = _VERSION.pack(kind.type_id) + codec.encode(key, 0)
    if value is None:
        return key_bytes, None
    version = value_version(kind, value)
    return key_bytes, _VERSION.pack(version) + codec.encode(value, version)


def _offset_key(key: groups.OffsetCommitKey) -> bytes:
    """Nearly all that is ever written, so it is spelled out; a test holds it against the rows."""
    group, topic = key.group.encode(), key.topic.encode()
    return b"".join(
        (
            _TYPE_AND_LENGTH.pack(1, len(group)),
            group,
            _VERSION.pack(len(topic)),
            topic,
            _INT.pack(key.partition),
        )
    )


def _offset_value(value: groups.OffsetCommitValue) -> bytes:
    metadata = value.metadata.encode()
    topic_id = value.topic_id
    return b"".join(
        (
            _OFFSET.pack(4, value.offset, value.leader_epoch),
            unsigned(len(metadata) + 1),
            metadata,
            _LONG.pack(value.commit_timestamp),
            _NO_TAGS if topic_id == ZERO_UUID else _TOPIC_ID_TAG + topic_id,
        )
    )


def value_version(kind: Kind, value: Message) -> int:
    """As Kafka 4.3 writes; an expiry of its own exists only in version 1."""
    if isinstance(value, groups.OffsetCommitValue) and value.expire_timestamp != -1:
        return 1
    return kind.written


def decode_entry(topic: str, key: bytes, value: bytes | None) -> tuple[Message, Message | None] | None:
    """None for a type this version does not know: kept in the log, and left alone."""
    if len(key) < _VERSION.size:
        raise MalformedError("The key of an internal record ends early")
    (type_id,) = _VERSION.unpack_from(key)
    kind = KINDS_OF_TOPIC[topic].get(type_id)
    if kind is None:
        return None
    decoded_key = codec.decode(kind.key, 0, key, _VERSION.size)
    if value is None:
        return decoded_key, None
    if len(value) < _VERSION.size:
        raise MalformedError("The value of an internal record ends early")
    (version,) = _VERSION.unpack_from(value)
    if not 0 <= version <= kind.newest:
        raise MalformedError(f"Unknown version {version} of {kind.value.__name__}")
    return decoded_key, codec.decode(kind.value, version, value, _VERSION.size)
