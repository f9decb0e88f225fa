"""Elections that somebody asks for: back to the preferred replica, or to any replica at the price of records.

The preferred leader of a partition is its first replica: placement spreads those evenly over the brokers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeVar

from barnabas.controller.decision import Decision, fence
from barnabas.controller.elections import led, numbered, state_writes
from barnabas.controller.liveness import Rules
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.image import ClusterImage, PartitionChanged, PartitionImage

Result = TypeVar("Result")


class ElectionType(IntEnum):
    PREFERRED = 0
    UNCLEAN = 1


@dataclass(frozen=True, slots=True)
class ElectionResult:
    partition: TopicPartition
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


def elect_leaders(
    image: ClusterImage, kind: ElectionType, wanted: Sequence[TopicPartition] | None, rules: Rules
) -> Decision[ElectionResult]:
    """None stands for every partition; those that need no election are then not among the results."""
    results: list[ElectionResult] = []
    changed: dict[TopicPartition, PartitionImage] = {}
    for place in _every(image) if wanted is None else wanted:
        try:
            changed[place] = _elected(image, kind, place, changed.get(place), rules)
        except ApiError as problem:
            if wanted is not None or problem.code is not ErrorCode.ELECTION_NOT_NEEDED:
                results.append(ElectionResult(place, problem.code, problem.message))
        else:
            results.append(ElectionResult(place))
    return _decided(image, results, changed)


def balance(image: ClusterImage, percentage_max: int) -> Decision[TopicPartition]:
    """Of brokers that lack more than this share of the leaderships they are preferred for: give them back
    what they can lead. Partitions on the move are left alone until they have arrived."""
    preferred: dict[int, int] = {}
    misled: dict[int, list[tuple[TopicPartition, PartitionImage]]] = {}
    for topic in image.topics.values():
        for partition in topic.partitions:
            if partition.is_initialised and partition.replicas:
                first = partition.replicas[0]
                preferred[first] = preferred.get(first, 0) + 1
                if partition.leader != first:
                    place = TopicPartition(topic.name, partition.index)
                    misled.setdefault(first, []).append((place, partition))
    changed = {
        place: _led_by(partition, broker)
        for broker, found in misled.items()
        if image.may_lead(broker) and len(found) * 100 > percentage_max * preferred[broker]
        for place, partition in found
        if broker in partition.isr and partition.has_leader and not (partition.adding or partition.removing)
    }
    return _decided(image, list(changed), changed)


def _every(image: ClusterImage) -> Iterator[TopicPartition]:
    for name in image.sorted_topic_names:
        for partition in image.topics[name].partitions:
            yield TopicPartition(name, partition.index)


def _elected(
    image: ClusterImage,
    kind: ElectionType,
    place: TopicPartition,
    decided: PartitionImage | None,
    rules: Rules,
) -> PartitionImage:
    partition = decided or _find(image, place)
    if kind is ElectionType.PREFERRED:
        first = partition.replicas[0]
        if partition.leader == first:
            raise ApiError(ErrorCode.ELECTION_NOT_NEEDED)
        if first not in partition.isr or not image.may_lead(first):
            raise ApiError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE)
        return _led_by(partition, first)
    if partition.has_leader:
        raise ApiError(ErrorCode.ELECTION_NOT_NEEDED)
    anybody = replace(rules(place.topic), unclean=True)
    elected = numbered(partition, led(image, partition, anybody))
    if not elected.has_leader or not partition.is_initialised:
        raise ApiError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE)
    return elected


def _find(image: ClusterImage, place: TopicPartition) -> PartitionImage:
    if place.topic not in image.topics:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {place.topic}")
    partition = image.partition(*place)
    if partition is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {place}")
    return partition


def _led_by(partition: PartitionImage, leader: int) -> PartitionImage:
    return numbered(partition, replace(partition, leader=leader, last_known_elr=()))


def _decided(
    image: ClusterImage, results: Iterable[Result], changed: dict[TopicPartition, PartitionImage]
) -> Decision[Result]:
    if not changed:
        return Decision(tuple(results))
    different = [(place.topic, partition) for place, partition in changed.items()]
    return Decision(
        tuple(results),
        (fence(image), *state_writes(image, different)),
        tuple(PartitionChanged(topic, partition) for topic, partition in different),
    )
