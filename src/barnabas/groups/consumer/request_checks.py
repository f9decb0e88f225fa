"""What a ConsumerGroupHeartbeat must say, and the sentences it is refused with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.member import LEAVES, LEAVES_FOR_NOW, Member, owns_only
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)


def check_request(request: ConsumerGroupHeartbeatRequest, version: int, assignors: Sequence[str]) -> None:
    """Before anything is looked up."""
    epoch = request.member_epoch
    if version >= 1 or epoch > 0 or epoch == LEAVES:
        _check_filled(request.member_id, "MemberId")
    _check_filled(request.group_id, "GroupId")
    _check_filled(request.instance_id, "InstanceId")
    _check_filled(request.rack_id, "RackId")
    if epoch == 0:
        _check_join(request)
    elif epoch == LEAVES_FOR_NOW and request.instance_id is None:
        raise _invalid("InstanceId can't be null.")
    elif epoch < LEAVES_FOR_NOW:
        raise _invalid("MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise ApiError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. "
            f"Supported assignors: {', '.join(assignors)}.",
        )


def _check_join(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    if request.topic_partitions is None or request.topic_partitions:
        raise _invalid("TopicPartitions must be empty when (re-)joining.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise _invalid(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
        )


def _check_filled(text: str | None, name: str) -> None:
    if text is not None and not text.strip():
        raise _invalid(f"{name} can't be empty.")


def _invalid(sentence: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, sentence)


def owned_partitions(rows: Sequence[TopicPartitions] | None) -> Mapping[bytes, Set[int]] | None:
    if rows is None:
        return None
    owned: dict[bytes, set[int]] = {}
    for row in rows:
        owned.setdefault(row.topic_id, set()).update(row.partitions)
    return owned


# --- against the group -------------------------------------------------------------------------------------


def check_room(group: ConsumerGroup, member_id: str, members_max: int) -> None:
    if len(group.members) >= members_max and member_id not in group.members:
        raise ApiError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {members_max} members.",
        )


def check_epoch(member: Member, epoch: int, owned: Mapping[bytes, Set[int]] | None) -> None:
    """Who is one epoch behind may only have missed our last answer."""
    if epoch in (0, member.epoch):
        return
    behind = epoch < member.epoch
    if behind and epoch == member.previous_epoch and owns_only(owned, member.assigned):
        return
    raise ApiError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {'smaller' if behind else 'greater'} member epoch ({epoch}) than "
        f"the one known by the group coordinator ({member.epoch}). "
        "The member must abandon all its partitions and rejoin.",
    )


def check_instance_known(member: Member | None, instance_id: str) -> Member:
    if member is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    return member


def check_instance_not_fenced(member: Member, member_id: str, instance_id: str) -> None:
    if member.member_id != member_id:
        raise ApiError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} "
            f"was fenced by member {member.member_id}.",
        )


def check_instance_released(member: Member, member_id: str, instance_id: str) -> None:
    if member.epoch != LEAVES_FOR_NOW:
        raise ApiError(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} cannot join the group because the "
            f"instance id is owned by {member.member_id} member.",
        )
