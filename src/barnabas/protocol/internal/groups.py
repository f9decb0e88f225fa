"""Records of `__consumer_offsets`. A key's version is its type, a value's version its format."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.model.ids import ZERO_UUID
from barnabas.protocol.internal.rows import record, row
from barnabas.protocol.schema import Message

# --- offsets and classic groups ----------------------------------------------------------------------------


@record()
class OffsetCommitKey(Message):
    group: str = row("string", default="")
    topic: str = row("string", default="")
    partition: int = row("int32", default=0)


@record(flexible_since=4)
class OffsetCommitValue(Message):
    offset: int = row("int64", default=0)
    leader_epoch: int = row("int32", default=-1, since=3)
    metadata: str = row("string", default="")
    commit_timestamp: int = row("int64", default=0)
    expire_timestamp: int = row("int64", default=-1, since=1, until=1)
    topic_id: bytes = row("uuid", default=ZERO_UUID, since=4, tag=0)


@record()
class GroupMetadataKey(Message):
    group: str = row("string", default="")


@record(flexible_since=4)
class MemberMetadata(Message):
    member_id: str = row("string", default="")
    group_instance_id: str | None = row("string", default=None, since=3, nullable_since=3)
    client_id: str = row("string", default="")
    client_host: str = row("string", default="")
    rebalance_timeout: int = row("int32", default=-1, since=1)
    session_timeout: int = row("int32", default=0)
    subscription: bytes = row("bytes", default=b"")
    assignment: bytes = row("bytes", default=b"")


@record(flexible_since=4)
class GroupMetadataValue(Message):
    protocol_type: str = row("string", default="")
    generation: int = row("int32", default=0)
    protocol: str | None = row("string", default=None, nullable_since=0)
    leader: str | None = row("string", default=None, nullable_since=0)
    current_state_timestamp: int = row("int64", default=-1, since=2)
    members: Sequence[MemberMetadata] = row(MemberMetadata, default=(), array=True)


# --- consumer groups (KIP-848) -----------------------------------------------------------------------------


@record()
class ConsumerGroupMetadataKey(Message):
    group_id: str = row("string", default="")


@record(flexible_since=0)
class ConsumerGroupMetadataValue(Message):
    epoch: int = row("int32", default=0)
    metadata_hash: int = row("int64", default=0, tag=0)


@record()
class ConsumerGroupPartitionMetadataKey(Message):
    group_id: str = row("string", default="")


@record(flexible_since=0)
class RacksOfPartition(Message):
    partition: int = row("int32", default=0)
    racks: Sequence[str] = row("string", default=(), array=True)


@record(flexible_since=0)
class TopicMetadata(Message):
    topic_id: bytes = row("uuid", default=ZERO_UUID)
    topic_name: str = row("string", default="")
    num_partitions: int = row("int32", default=0)
    partition_metadata: Sequence[RacksOfPartition] = row(RacksOfPartition, default=(), array=True)


@record(flexible_since=0)
class ConsumerGroupPartitionMetadataValue(Message):
    """Kafka 4.0 wrote it; later brokers keep a hash in the group's own record and only remove this one."""

    topics: Sequence[TopicMetadata] = row(TopicMetadata, default=(), array=True)


@record()
class ConsumerGroupMemberMetadataKey(Message):
    group_id: str = row("string", default="")
    member_id: str = row("string", default="")


@record(flexible_since=0)
class ClassicProtocol(Message):
    name: str = row("string", default="")
    metadata: bytes = row("bytes", default=b"")


@record(flexible_since=0)
class ClassicMemberMetadata(Message):
    session_timeout_ms: int = row("int32", default=0)
    supported_protocols: Sequence[ClassicProtocol] = row(ClassicProtocol, default=(), array=True)


@record(flexible_since=0)
class ConsumerGroupMemberMetadataValue(Message):
    instance_id: str | None = row("string", default=None, nullable_since=0)
    rack_id: str | None = row("string", default=None, nullable_since=0)
    client_id: str = row("string", default="")
    client_host: str = row("string", default="")
    subscribed_topic_names: Sequence[str] = row("string", default=(), array=True)
    subscribed_topic_regex: str | None = row("string", default=None, nullable_since=0)
    rebalance_timeout_ms: int = row("int32", default=-1)
    server_assignor: str | None = row("string", default=None, nullable_since=0)
    classic_member_metadata: ClassicMemberMetadata | None = row(
        ClassicMemberMetadata, default=None, nullable_since=0, tag=0
    )


@record()
class ConsumerGroupTargetAssignmentMetadataKey(Message):
    group_id: str = row("string", default="")


@record(flexible_since=0)
class ConsumerGroupTargetAssignmentMetadataValue(Message):
    assignment_epoch: int = row("int32", default=0)
    assignment_timestamp: int = row("int64", default=0, tag=0)


@record()
class ConsumerGroupTargetAssignmentMemberKey(Message):
    group_id: str = row("string", default="")
    member_id: str = row("string", default="")


@record(flexible_since=0)
class TargetPartitions(Message):
    topic_id: bytes = row("uuid", default=ZERO_UUID)
    partitions: Sequence[int] = row("int32", default=(), array=True)


@record(flexible_since=0)
class ConsumerGroupTargetAssignmentMemberValue(Message):
    topic_partitions: Sequence[TargetPartitions] = row(TargetPartitions, default=(), array=True)


@record()
class ConsumerGroupCurrentMemberAssignmentKey(Message):
    group_id: str = row("string", default="")
    member_id: str = row("string", default="")


@record(flexible_since=0)
class CurrentPartitions(Message):
    topic_id: bytes = row("uuid", default=ZERO_UUID)
    partitions: Sequence[int] = row("int32", default=(), array=True)
    assignment_epochs: Sequence[int] | None = row("int32", default=None, array=True, nullable_since=0, tag=0)


@record(flexible_since=0)
class ConsumerGroupCurrentMemberAssignmentValue(Message):
    member_epoch: int = row("int32", default=0)
    previous_member_epoch: int = row("int32", default=0)
    state: int = row("int8", default=0)
    assigned_partitions: Sequence[CurrentPartitions] = row(CurrentPartitions, default=(), array=True)
    partitions_pending_revocation: Sequence[CurrentPartitions] = row(
        CurrentPartitions, default=(), array=True
    )


@record()
class ConsumerGroupRegularExpressionKey(Message):
    group_id: str = row("string", default="")
    regular_expression: str = row("string", default="")


@record(flexible_since=0)
class ConsumerGroupRegularExpressionValue(Message):
    topics: Sequence[str] = row("string", default=(), array=True)
    version: int = row("int64", default=0)
    timestamp: int = row("int64", default=0)
