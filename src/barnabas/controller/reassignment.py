"""Moving replicas (KIP-455): a partition holds its old and its new replicas until all new ones are in sync.

While it moves, `replicas` is the target followed by what is to be removed; `adding` and `removing` say which
are which, and `replicas` without `adding` is where it came from: what a cancelled move goes back to. Errors
and messages are those of Kafka 4.3, except that a second move of a partition remembers the origin of the
first, as Kafka's did while it lived in ZooKeeper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.controller.elections import ElectionRules, led, numbered, state_writes, with_isr
from barnabas.controller.liveness import Rules
from barnabas.controller.partitions import check_assignable
from barnabas.controller.znodes.topics import encode_topic
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.image import ClusterImage, PartitionChanged, PartitionImage
from barnabas.ports import Set, Write


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
    image: ClusterImage, moves: Sequence[Move], rules: Rules, *, allow_replication_factor_change: bool = True
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
                changed[place] = _reverted(image, move.topic, partition, rules(move.topic))
            else:
                check_assignable(image, move.replicas, None)
                if not allow_replication_factor_change:
                    _check_same_factor(partition, move.replicas)
                changed[place] = _moved(image, partition, move.replicas, rules(move.topic))
        except ApiError as problem:
            message = None if problem.message == problem.code.sentence else problem.message
            results.append(MoveResult(move.topic, move.partition, problem.code, message))
        else:
            results.append(MoveResult(move.topic, move.partition))
    return _decided(image, results, changed)


def completions(image: ClusterImage, rules: Rules) -> Decision[MoveResult]:
    """Every move that has reached its end: what a new controller looks for, as the last one may have fallen
    between two parts of a large multi."""
    done = {
        TopicPartition(topic.name, partition.index): altered(image, partition, partition, rules(topic.name))
        for topic in image.topics.values()
        for partition in topic.partitions
        if is_moving(partition) and _arrived(image, partition) is not None
    }
    return _decided(image, [MoveResult(*place) for place in done], done)


def _decided(
    image: ClusterImage, results: Sequence[MoveResult], changed: Mapping[TopicPartition, PartitionImage]
) -> Decision[MoveResult]:
    different = [
        PartitionChanged(place.topic, partition)
        for place, partition in changed.items()
        if partition != image.partition(*place)
    ]
    if not different:
        return Decision(tuple(results))
    return Decision(tuple(results), (fence(image), *change_writes(image, different)), tuple(different))


# --- one partition ---------------------------------------------------------------------------------------


def is_moving(partition: PartitionImage) -> bool:
    return bool(partition.adding or partition.removing)


def altered(
    image: ClusterImage, before: PartitionImage, after: PartitionImage, rules: ElectionRules
) -> PartitionImage:
    """`before`, now that its replicas or its in-sync replicas are those of `after`: if that ends its move the
    move is ended, and it gets its leader and its epochs. Whenever a replica leaves, even a leader that stays
    leads in a new epoch, so that nobody takes the one that left for a follower."""
    there = _arrived(image, after) or after
    final = led(image, with_isr(there, there.isr, rules), rules)
    somebody_left = not set(before.replicas) <= set(final.replicas)
    return numbered(before, final, is_renewed=somebody_left and final.has_leader)


def _arrived(image: ClusterImage, partition: PartitionImage) -> PartitionImage | None:
    """The partition with its target alone, once all of that is in sync; None until then, and while nobody of
    it may lead: the old leader stays until one may."""
    if not is_moving(partition):
        return None
    there = _without(replace(partition, adding=(), removing=()), partition.removing)
    if not there.replicas or not set(there.replicas) <= set(there.isr) or not _has_leader(image, there):
        return None
    return there


def _moved(
    image: ClusterImage, partition: PartitionImage, target: tuple[int, ...], rules: ElectionRules
) -> PartitionImage:
    if not partition.is_initialised:
        return replace(partition, replicas=target, adding=(), removing=())  # it holds nothing yet
    origin = tuple(broker for broker in partition.replicas if broker not in partition.adding)
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
    return partition if moved == partition else altered(image, partition, moved, rules)


def _let_go(image: ClusterImage, moved: PartitionImage, unwanted: set[int]) -> PartitionImage:
    """They go at once, unless what was acknowledged is nowhere else: then they stay until it is done."""
    rest = _without(moved, unwanted)
    if _has_leader(image, rest):
        return rest
    removing = tuple(sorted({*moved.removing, *unwanted.intersection(moved.isr)}))
    target = tuple(broker for broker in moved.replicas if broker not in moved.removing)
    return replace(moved, replicas=(*target, *removing), removing=removing)


def _reverted(
    image: ClusterImage, topic: str, partition: PartitionImage, rules: ElectionRules
) -> PartitionImage:
    if not is_moving(partition):
        raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    reverted = _without(replace(partition, adding=(), removing=()), partition.adding)
    if not reverted.replicas:
        message = "Invalid replica assignment: addingReplicas contains all replicas."
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    if not reverted.isr and not rules.unclean:
        message = (
            f"Unable to revert partition assignment for {topic}:{partition.index} because it would "
            "require an unclean leader election."
        )
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    return altered(image, partition, reverted, rules)


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


def _has_leader(image: ClusterImage, partition: PartitionImage) -> bool:
    """Whether it keeps its leader or somebody in sync may follow."""
    return partition.leader in partition.isr or any(map(image.may_lead, partition.isr))


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


def change_writes(image: ClusterImage, changes: Sequence[PartitionChanged]) -> list[Write]:
    """States of partitions that changed, each against the version that the image knows, then the nodes of
    topics of which replicas change. In this order, should it take several multis: leader and in-sync replicas
    are then always among the replicas, and a move that was about to end ends with the next controller."""
    moved = {
        change.topic
        for change in changes
        if _assignment(change.partition) != _assignment(image.partition(change.topic, change.partition.index))
    }
    after: dict[str, list[PartitionImage]] = {
        name: [*image.topics[name].partitions] for name in sorted(moved)
    }
    for change in changes:
        if change.topic in after:
            after[change.topic][change.partition.index] = change.partition
    initialised = [(change.topic, change.partition) for change in changes if change.partition.is_initialised]
    nodes = [replace(image.topics[name], partitions=tuple(rows)) for name, rows in after.items()]
    return [
        *state_writes(image, initialised),
        *(Set(tree.topic_path(topic.name), encode_topic(topic)) for topic in nodes),
    ]


def _assignment(partition: PartitionImage | None) -> tuple[tuple[int, ...], ...]:
    return () if partition is None else (partition.replicas, partition.adding, partition.removing)
