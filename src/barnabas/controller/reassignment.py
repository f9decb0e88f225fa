"""Moving replicas (KIP-455): a partition holds its old and its new replicas until all new ones are in sync.

While it moves, `replicas` is the target followed by what is to be removed; `adding` and `removing` say which
are which, and `replicas` without `adding` is where it came from: what a cancelled move goes back to. Errors
and messages are those of Kafka 4.3, except that a second move of a partition remembers the origin of the
first, as Kafka's did while it lived in ZooKeeper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.controller.partitions import check_assignable
from barnabas.controller.znodes.topics import encode_state, encode_topic
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.image import NO_LEADER, ClusterImage, PartitionChanged, PartitionImage, TopicImage
from barnabas.ports import Set, Write

# Whether a topic may get a leader that was not in sync.
UncleanAllowed = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Move:
    topic: str
    partition: int
    replicas: tuple[int, ...] | None  # None takes back the move that is under way


@dataclass(frozen=True, slots=True)
class MoveResult:
    topic: str
    partition: int
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


def alter_reassignments(
    image: ClusterImage,
    moves: Sequence[Move],
    *,
    unclean_allowed: UncleanAllowed,
    allow_replication_factor_change: bool = True,
) -> Decision[MoveResult]:
    """Each partition is judged for itself; those that pass are written together. A partition named twice ends
    where its last mention says."""
    results: list[MoveResult] = []
    changed: dict[TopicPartition, PartitionImage] = {}
    for move in moves:
        place = TopicPartition(move.topic, move.partition)
        try:
            partition = _find(image, move)
            if move.replicas is None:
                changed[place] = _reverted(image, move.topic, partition, unclean_allowed)
            else:
                check_assignable(image, move.replicas, None)
                if not allow_replication_factor_change:
                    _check_same_factor(partition, move.replicas)
                changed[place] = _moved(image, partition, move.replicas)
        except ApiError as problem:
            message = None if problem.message == problem.code.sentence else problem.message
            results.append(MoveResult(move.topic, move.partition, problem.code, message))
        else:
            results.append(MoveResult(move.topic, move.partition))
    return _decided(image, results, changed)


def completions(image: ClusterImage) -> Decision[MoveResult]:
    """Every move that has reached its end: what a new controller looks for, as the last one may have fallen
    between a growth of the in-sync replicas and this."""
    finished = {
        TopicPartition(topic.name, partition.index): after
        for topic in image.topics.values()
        for partition in topic.partitions
        if (after := completed(image, partition)) is not None
    }
    done = {place: _next_epoch(after) for place, after in finished.items()}
    return _decided(image, [MoveResult(*place) for place in done], done)


def _decided(
    image: ClusterImage, results: Sequence[MoveResult], changed: Mapping[TopicPartition, PartitionImage]
) -> Decision[MoveResult]:
    different = {
        place: partition for place, partition in changed.items() if partition != image.partition(*place)
    }
    if not different:
        return Decision(tuple(results))
    deltas = tuple(PartitionChanged(place.topic, partition) for place, partition in different.items())
    return Decision(tuple(results), (fence(image), *partition_change_writes(image, deltas)), deltas)


# --- one partition ---------------------------------------------------------------------------------------


def is_moving(partition: PartitionImage) -> bool:
    return bool(partition.adding or partition.removing)


def completed(image: ClusterImage, partition: PartitionImage) -> PartitionImage | None:
    """The partition after its move, once every replica of the target is in sync; None until then.

    `partition` may be the one of the image with a change on top: the epochs are those of the argument, and
    only the leader epoch is raised here, when somebody leaves. Whoever writes it counts the partition epoch.
    """
    if not is_moving(partition):
        return None
    target = tuple(broker for broker in partition.replicas if broker not in partition.removing)
    if not target or not set(target) <= set(partition.isr):
        return None
    settled = _without(replace(partition, adding=(), removing=()), partition.removing)
    if settled.leader in partition.removing:
        successor = _first_able(image, settled)
        if successor is None:
            return None  # nobody of the target may lead right now: the old leader stays until one may
        settled = replace(settled, leader=successor)
    return replace(settled, leader_epoch=settled.leader_epoch + bool(partition.removing))


def _moved(image: ClusterImage, partition: PartitionImage, target: tuple[int, ...]) -> PartitionImage:
    if not partition.is_initialised:
        return replace(partition, replicas=target, adding=(), removing=())  # it holds nothing yet
    origin = _origin(partition)
    removing = sorted(set(origin) - set(target))
    moved = replace(
        partition,
        replicas=(*target, *removing),
        adding=tuple(sorted(set(target) - set(origin))),
        removing=tuple(removing),
    )
    # Whom an earlier move was adding and this one does not want.
    unwanted = set(partition.replicas) - set(moved.replicas)
    if unwanted:
        moved = _let_go(image, moved, unwanted)
    if moved == partition:
        return partition
    return _next_epoch(completed(image, moved) or moved)


def _let_go(image: ClusterImage, moved: PartitionImage, unwanted: set[int]) -> PartitionImage:
    """They go at once, unless what was acknowledged is nowhere else: then they stay until it is done."""
    rest = _without(moved, unwanted)
    leader = rest.leader if rest.leader not in unwanted else _first_able(image, rest)
    if not rest.isr or leader is None:
        removing = tuple(sorted({*moved.removing, *unwanted.intersection(moved.isr)}))
        target = tuple(broker for broker in moved.replicas if broker not in moved.removing)
        return replace(moved, replicas=(*target, *removing), removing=removing)
    return replace(rest, leader=leader, leader_epoch=rest.leader_epoch + 1)


def _reverted(
    image: ClusterImage, topic: str, partition: PartitionImage, unclean_allowed: UncleanAllowed
) -> PartitionImage:
    if not is_moving(partition):
        raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    reverted = _without(replace(partition, adding=(), removing=()), partition.adding)
    if not reverted.replicas:
        message = "Invalid replica assignment: addingReplicas contains all replicas."
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    if not reverted.isr:
        if not unclean_allowed(topic):
            message = (
                f"Unable to revert partition assignment for {topic}:{partition.index} because it would "
                "require an unclean leader election."
            )
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
        alive = [broker for broker in reverted.replicas if image.may_lead(broker)]
        reverted = replace(reverted, isr=(*alive, *reverted.replicas)[:1])
    if reverted.leader not in reverted.isr:
        leader = _first_able(image, reverted)
        reverted = replace(reverted, leader=NO_LEADER if leader is None else leader)
    changes = reverted.leader != partition.leader or bool(partition.adding)
    return _next_epoch(replace(reverted, leader_epoch=reverted.leader_epoch + changes))


def _origin(partition: PartitionImage) -> tuple[int, ...]:
    return tuple(broker for broker in partition.replicas if broker not in partition.adding)


def _without(partition: PartitionImage, brokers: Iterable[int]) -> PartitionImage:
    gone = set(brokers)

    def rest(ids: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(broker for broker in ids if broker not in gone)

    return replace(
        partition,
        replicas=rest(partition.replicas),
        isr=rest(partition.isr),
        elr=rest(partition.elr),
        last_known_elr=rest(partition.last_known_elr),
    )


def _first_able(image: ClusterImage, partition: PartitionImage) -> int | None:
    able = (broker for broker in partition.replicas if broker in partition.isr and image.may_lead(broker))
    return next(able, None)


def _next_epoch(partition: PartitionImage) -> PartitionImage:
    return replace(partition, partition_epoch=partition.partition_epoch + 1)


def _find(image: ClusterImage, move: Move) -> PartitionImage:
    if move.topic not in image.topics:
        message = f"Unable to find a topic named {move.topic}."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    partition = image.partition(move.topic, move.partition)
    if partition is None:
        message = f"Unable to find partition {move.topic}:{move.partition}."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    return partition


def _check_same_factor(partition: PartitionImage, target: tuple[int, ...]) -> None:
    current = len(set(partition.replicas) - set(partition.removing))
    if current != len(target):
        message = f"The replication factor is changed from {current} to {len(target)}"
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, message)


# --- what is written -------------------------------------------------------------------------------------


def partition_change_writes(image: ClusterImage, deltas: Iterable[PartitionChanged]) -> list[Write]:
    """States of partitions that changed, each against the version that the image knows, then the nodes of
    topics of which replicas change. In this order, should it take several multis: leader and in-sync replicas
    are then always among the replicas, and a move that was about to end ends with the next controller."""
    changes = list(deltas)
    topics: dict[str, TopicImage] = {}
    for delta in changes:
        if _assignment(delta.partition) != _assignment(image.partition(delta.topic, delta.partition.index)):
            topics.setdefault(delta.topic, image.topics[delta.topic])
    for delta in changes:
        if delta.topic in topics:
            topics[delta.topic] = _with_partition(topics[delta.topic], delta.partition)
    states = [
        Set(
            tree.state_path(delta.topic, delta.partition.index),
            encode_state(delta.partition, image.controller_epoch),
            delta.partition.partition_epoch - 1,
        )
        for delta in changes
        if delta.partition.is_initialised
    ]
    return [*states, *(Set(tree.topic_path(name), encode_topic(topic)) for name, topic in topics.items())]


def _assignment(partition: PartitionImage | None) -> tuple[tuple[int, ...], ...]:
    return () if partition is None else (partition.replicas, partition.adding, partition.removing)


def _with_partition(topic: TopicImage, partition: PartitionImage) -> TopicImage:
    partitions = list(topic.partitions)
    partitions[partition.index] = partition
    return replace(topic, partitions=tuple(partitions))
