"""Adding partitions, and what every new partition needs: sound replicas, a first state, its nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.controller.placement import place
from barnabas.controller.znodes.topics import encode_state, encode_topic
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import ClusterImage, PartitionImage, PartitionsAdded, TopicImage
from barnabas.ports import Create, Random, Set, Write

PARTITIONS_PER_REQUEST_MAX = 10_000


@dataclass(frozen=True, slots=True)
class MorePartitions:
    name: str
    count: int  # in all, not in addition
    assignments: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class PartitionsResult:
    name: str
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


def named_twice(times: Mapping[str, int]) -> list[PartitionsResult]:
    """What is refused before the controller is asked at all."""
    return [
        PartitionsResult(name, ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        for name, count in times.items()
        if count > 1
    ]


def create_partitions(
    image: ClusterImage,
    requests: Sequence[MorePartitions],
    *,
    random: Random,
    validate_only: bool = False,
) -> Decision[PartitionsResult]:
    times = Counter(request.name for request in requests)
    results = named_twice(times)
    grown: list[tuple[TopicImage, tuple[PartitionImage, ...]]] = []
    for request in requests:
        if times[request.name] > 1:
            continue
        try:
            grown.append(_grown(image, request, random))
        except ApiError as problem:
            message = None if problem.message == problem.code.sentence else problem.message
            results.append(PartitionsResult(request.name, problem.code, message))
        else:
            results.append(PartitionsResult(request.name))
    if validate_only or not grown:
        return Decision(tuple(results))
    operations = [operation for topic, added in grown for operation in _writes(image, topic, added)]
    deltas = [PartitionsAdded(topic.name, added) for topic, added in grown]
    return Decision(tuple(results), (fence(image), *operations), tuple(deltas))


def _grown(
    image: ClusterImage, request: MorePartitions, random: Random
) -> tuple[TopicImage, tuple[PartitionImage, ...]]:
    topic = image.topics.get(request.name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    additional = _additional(topic, request)
    first_index = len(topic.partitions)
    if request.assignments is None:
        replicas = place(image.brokers.values(), additional, topic.replication_factor, random)
    else:
        for index, brokers in enumerate(request.assignments, first_index):
            check_replicas(image, index, brokers, topic.replication_factor)
        replicas = list(request.assignments)
    return topic, first_states(image, first_index, replicas)


def _additional(topic: TopicImage, request: MorePartitions) -> int:
    current = len(topic.partitions)
    if request.count == current:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {current} partition(s).")
    if request.count < current:
        message = (
            f"The topic {topic.name} currently has {current} partition(s); "
            f"{request.count} would not be an increase."
        )
        raise ApiError(ErrorCode.INVALID_PARTITIONS, message)
    additional = request.count - current
    if request.assignments is not None and len(request.assignments) != additional:
        message = (
            f"Attempted to add {additional} additional partition(s), but only "
            f"{len(request.assignments)} assignment(s) were specified."
        )
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    if additional > PARTITIONS_PER_REQUEST_MAX:
        # Kafka 4.3 runs into its own limit here and answers UNKNOWN_SERVER_ERROR; this says what is wrong.
        message = "Excessively large number of partitions per request."
        raise ApiError(ErrorCode.POLICY_VIOLATION, message)
    return additional


def _writes(image: ClusterImage, topic: TopicImage, added: tuple[PartitionImage, ...]) -> list[Write]:
    whole = replace(topic, partitions=topic.partitions + added)
    return [
        Set(tree.topic_path(topic.name), encode_topic(whole)),
        *partition_writes(image, topic.name, added),
    ]


def check_replicas(
    image: ClusterImage, partition: int, replicas: tuple[int, ...], replication_factor: int | None
) -> None:
    """Of a new partition: somebody must be there to lead it."""
    check_assignable(image, replicas, replication_factor)
    if not any(image.may_lead(broker_id) for broker_id in replicas):
        message = (
            f"All brokers specified in the manual partition assignment for partition {partition} "
            "are fenced or in controlled shutdown."
        )
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)


def check_assignable(image: ClusterImage, replicas: tuple[int, ...], replication_factor: int | None) -> None:
    problem = _replicas_problem(image, replicas, replication_factor)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem)


def _replicas_problem(
    image: ClusterImage, replicas: tuple[int, ...], replication_factor: int | None
) -> str | None:
    prefix = "The manual partition assignment includes"
    if not replicas:
        return f"{prefix} an empty replica list."
    in_order = sorted(replicas)
    for position, broker_id in enumerate(in_order):
        if broker_id not in image.brokers:
            return f"{prefix} broker {broker_id}, but no such broker is registered."
        if position and in_order[position - 1] == broker_id:
            return f"{prefix} the broker {broker_id} more than once."
    if replication_factor is not None and len(replicas) != replication_factor:
        return (
            f"{prefix} a partition with {len(replicas)} replica(s), but this is not consistent with "
            f"previous partitions, which have {replication_factor} replica(s)."
        )
    return None


def first_states(
    image: ClusterImage, first_index: int, replicas: Iterable[tuple[int, ...]]
) -> tuple[PartitionImage, ...]:
    partitions = []
    for index, brokers in enumerate(replicas, first_index):
        isr = tuple(broker for broker in brokers if image.may_lead(broker))
        partitions.append(PartitionImage(index, brokers, isr, leader=isr[0]))
    return tuple(partitions)


def partition_writes(image: ClusterImage, topic: str, partitions: Iterable[PartitionImage]) -> list[Write]:
    operations: list[Write] = []
    for partition in partitions:
        operations.append(Create(tree.partition_path(topic, partition.index)))
        state = encode_state(partition, image.controller_epoch)
        operations.append(Create(tree.state_path(topic, partition.index), state))
    return operations
