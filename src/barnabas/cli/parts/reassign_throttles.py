"""The throttles of moving replicas: which on a topic, how fast on a broker; set before, lifted after.

Kafka sets them as settings: `leader.replication.throttled.replicas` and its follower's twin on the topic,
`leader.replication.throttled.rate` and its twin on every broker that sends or receives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from barnabas.groups.java_order import numbers_in_java_order, strings_in_java_order
from barnabas.model.config_numbers import Operation, ResourceType
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.list_partition_reassignments import OngoingPartitionReassignment
from barnabas.wire import Cluster
from barnabas.wire.admin import configs
from barnabas.wire.admin.configs import Change, Resource

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LOG_DIRS_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"


class PartitionMove(NamedTuple):
    sources: frozenset[int]
    destinations: frozenset[int]


Moves = Mapping[TopicPartition, PartitionMove]


def proposed_moves(
    ongoing: Mapping[TopicPartition, OngoingPartitionReassignment],
    targets: Mapping[TopicPartition, Sequence[int]],
    current: Mapping[TopicPartition, Sequence[int]],
) -> dict[TopicPartition, PartitionMove]:
    """What moves already and what is about to."""
    moves = {}
    for partition, row in ongoing.items():
        adding = frozenset(row.adding_replicas)
        moves[partition] = PartitionMove(frozenset(row.replicas) - adding, adding)
    for partition, replicas in targets.items():
        moving = moves.get(partition)
        sources = frozenset(current[partition]) if moving is None else moving.sources
        moves[partition] = PartitionMove(sources, frozenset(replicas) - sources)
    return moves


def throttled_replicas(moves: Moves) -> dict[str, tuple[str, str]]:
    """Per topic the values of its two settings: whoever holds a replica sends, whoever gets one receives."""
    leaders: dict[str, set[str]] = {}
    followers: dict[str, set[str]] = {}
    for (topic, index), move in moves.items():
        leaders.setdefault(topic, set()).update(f"{index}:{broker}" for broker in move.sources)
        new = move.destinations - move.sources
        followers.setdefault(topic, set()).update(f"{index}:{broker}" for broker in new)
    return {
        topic: (",".join(sorted(leaders[topic])), ",".join(sorted(followers[topic]))) for topic in leaders
    }


def set_replication_throttle(cluster: Cluster, moves: Moves, bytes_per_second: int) -> None:
    for topic, (leaders, followers) in throttled_replicas(moves).items():
        changes = [Change(LEADER_REPLICAS, leaders), Change(FOLLOWER_REPLICAS, followers)]
        configs.alter(cluster, Resource(ResourceType.TOPIC, topic), changes)
    rate = str(bytes_per_second)
    for broker in sorted(brokers_of(moves)):
        changes = [Change(LEADER_RATE, rate), Change(FOLLOWER_RATE, rate)]
        configs.alter(cluster, Resource(ResourceType.BROKER, str(broker)), changes)


def brokers_of(moves: Moves) -> set[int]:
    """Whoever sends or receives."""
    return {broker for move in moves.values() for broker in move.sources | move.destinations}


def set_log_dirs_throttle(cluster: Cluster, brokers: Iterable[int], bytes_per_second: int) -> None:
    for broker in sorted(set(brokers)):
        change = Change(LOG_DIRS_RATE, str(bytes_per_second))
        configs.alter(cluster, Resource(ResourceType.BROKER, str(broker)), [change])


def clear_throttles(cluster: Cluster, rows: Sequence[tuple[TopicPartition, Sequence[int]]]) -> None:
    """On every broker: who else took part is not known any more."""
    brokers = {broker.node_id for broker in cluster.brokers()}
    brokers.update(broker for _, replicas in rows for broker in replicas)
    named = ",".join(map(str, numbers_in_java_order(brokers)))
    print(f"Clearing broker-level throttles on broker{_plural(len(brokers))} {named}")
    lift_from_brokers(cluster, brokers)
    topics = {partition.topic for partition, _ in rows}
    named = ",".join(strings_in_java_order(topics))
    print(f"Clearing topic-level throttles on topic{_plural(len(topics))} {named}")
    lift_from_topics(cluster, topics)


def lift_from_brokers(cluster: Cluster, brokers: Iterable[int]) -> None:
    lifted = [Change(name, None, Operation.DELETE) for name in (LEADER_RATE, FOLLOWER_RATE, LOG_DIRS_RATE)]
    for broker in sorted(brokers):
        configs.alter(cluster, Resource(ResourceType.BROKER, str(broker)), lifted)


def lift_from_topics(cluster: Cluster, topics: Iterable[str]) -> None:
    lifted = [Change(name, None, Operation.DELETE) for name in (LEADER_REPLICAS, FOLLOWER_REPLICAS)]
    for topic in sorted(topics):
        configs.alter(cluster, Resource(ResourceType.TOPIC, topic), lifted)


def _plural(count: int) -> str:
    return "" if count == 1 else "s"
