"""In-sync replicas as their leaders propose them (KIP-497): who may join, and what follows from it.

Checks and errors are those of Kafka's controller, in its order. Where a partition moves and its last new
replica joins, the move ends in the same decision. One difference: where all in sync are about to stop, others
may still join, so that there is somebody to take over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from barnabas.controller.decision import Decision, fence
from barnabas.controller.elections import with_isr
from barnabas.controller.liveness import Rules
from barnabas.controller.reassignment import altered, change_writes
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.image import ClusterImage, PartitionChanged, PartitionImage

ANY_EPOCH = -1


@dataclass(frozen=True, slots=True)
class Member:
    broker_id: int
    broker_epoch: int = ANY_EPOCH


@dataclass(frozen=True, slots=True)
class ProposedIsr:
    """What the leader knows of the partition, and who should be in sync from now on."""

    topic_id: bytes
    index: int
    leader_epoch: int
    partition_epoch: int
    members: tuple[Member, ...]
    is_recovering: bool = False  # from an unclean election; no leader of ours ever is


@dataclass(frozen=True, slots=True)
class IsrResult:
    """The partition as it is now, or why it stays as it was."""

    proposed: ProposedIsr
    error: ErrorCode = ErrorCode.NONE
    partition: PartitionImage | None = None


def alter_isrs(
    image: ClusterImage, broker_id: int, broker_epoch: int, proposals: Sequence[ProposedIsr], rules: Rules
) -> Decision[IsrResult]:
    """All that one leader proposes, each for itself, in one decision. Where the broker is of an earlier life
    every result is STALE_BROKER_EPOCH."""
    if is_stale(image, broker_id, broker_epoch):
        return Decision(tuple(IsrResult(one, ErrorCode.STALE_BROKER_EPOCH) for one in proposals))
    results: list[IsrResult] = []
    changed: dict[TopicPartition, PartitionImage] = {}
    for proposed in proposals:
        topic = image.topic_by_id(proposed.topic_id)
        if topic is None:
            results.append(IsrResult(proposed, ErrorCode.UNKNOWN_TOPIC_ID))
            continue
        place = TopicPartition(topic.name, proposed.index)
        before = topic.partition(proposed.index)
        problem = _problem(image, broker_id, proposed, before)
        if place in changed:
            problem = ErrorCode.INVALID_UPDATE_VERSION
        if problem or before is None:
            results.append(IsrResult(proposed, problem))
            if before is not None and problem is ErrorCode.INELIGIBLE_REPLICA:
                changed[place] = _outdating(before)
            continue
        after = _altered(image, before, proposed, rules, topic.name)
        if after is not before:
            changed[place] = after
        # As Kafka: it is done, and whoever asked has to learn first that it does not lead any more.
        error = ErrorCode.NONE if after.leader == broker_id else ErrorCode.NEW_LEADER_ELECTED
        results.append(IsrResult(proposed, error, after))
    return _decided(image, results, changed)


def _outdating(partition: PartitionImage) -> PartitionImage:
    """The same, with another epoch. The leader takes the refusal for final and goes on without whom it
    proposed; the same proposal, said before and still under way, must not be carried out should that broker
    be eligible when it arrives: it would be in sync without what was committed meanwhile."""
    return replace(partition, partition_epoch=partition.partition_epoch + 1)


def is_stale(image: ClusterImage, broker_id: int, broker_epoch: int) -> bool:
    broker = image.brokers.get(broker_id)
    return broker is None or broker.epoch != broker_epoch


def _decided(
    image: ClusterImage, results: list[IsrResult], changed: dict[TopicPartition, PartitionImage]
) -> Decision[IsrResult]:
    if not changed:
        return Decision(tuple(results))
    different = [PartitionChanged(place.topic, partition) for place, partition in changed.items()]
    return Decision(tuple(results), (fence(image), *change_writes(image, different)), tuple(different))


def _altered(
    image: ClusterImage, before: PartitionImage, proposed: ProposedIsr, rules: Rules, topic: str
) -> PartitionImage:
    isr = tuple(member.broker_id for member in proposed.members)
    return altered(image, before, with_isr(before, isr, rules(topic)), rules(topic))


def _problem(
    image: ClusterImage, broker_id: int, proposed: ProposedIsr, known: PartitionImage | None
) -> ErrorCode:
    if known is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if proposed.leader_epoch > known.leader_epoch or proposed.partition_epoch > known.partition_epoch:
        return ErrorCode.NOT_CONTROLLER  # whoever asks knows more: another must have taken over
    if proposed.leader_epoch < known.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if broker_id != known.leader:
        return ErrorCode.INVALID_REQUEST
    if proposed.partition_epoch < known.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
    isr = [member.broker_id for member in proposed.members]
    if len(set(isr)) != len(isr) or not set(isr) <= set(known.replicas) or broker_id not in isr:
        return ErrorCode.INVALID_REQUEST
    if proposed.is_recovering:
        return ErrorCode.INVALID_REQUEST
    if not all(_is_eligible(image, member, known.isr) for member in proposed.members):
        return ErrorCode.INELIGIBLE_REPLICA
    return ErrorCode.NONE


def _is_eligible(image: ClusterImage, member: Member, isr: tuple[int, ...]) -> bool:
    """Of this life: one that restarted may lack what its earlier life had fetched (KIP-903)."""
    broker = image.brokers.get(member.broker_id)
    if broker is None or broker.fenced or (broker.leaving and broker.id not in isr):
        return False
    return member.broker_epoch in {ANY_EPOCH, broker.epoch}
