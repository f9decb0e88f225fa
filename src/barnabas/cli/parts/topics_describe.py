"""`kafka-topics --describe`: which topics and partitions are shown, and their lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from barnabas.cli.support.options import Options
from barnabas.groups.java_order import strings_in_java_order
from barnabas.model.config_numbers import ResourceType, Source
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import ZERO_UUID, TopicPartition, uuid_text
from barnabas.protocol.messages.describe_configs import DescribeConfigsResourceResult
from barnabas.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsResponsePartition as Partition,
)
from barnabas.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsResponseTopic as Topic,
)
from barnabas.protocol.messages.list_partition_reassignments import OngoingPartitionReassignment
from barnabas.wire import Cluster, VersionError, check
from barnabas.wire.admin import configs, reassignments, topics
from barnabas.wire.admin.configs import Resource

Moves = Mapping[TopicPartition, OngoingPartitionReassignment]


@dataclass(frozen=True, slots=True)
class Shown:
    """What the options leave to be shown."""

    under_replicated: bool
    unavailable: bool
    under_min_isr: bool
    at_min_isr: bool
    only_overrides: bool
    partitions_per_answer: int = 2000

    @classmethod
    def from_options(cls, options: Options) -> Shown:
        return cls(
            options.has("under-replicated-partitions"),
            options.has("unavailable-partitions"),
            options.has("under-min-isr-partitions"),
            options.has("at-min-isr-partitions"),
            options.has("topics-with-overrides"),
            options.integer("partition-size-limit-per-response") or 2000,
        )

    @property
    def topic_lines(self) -> bool:
        return not (self.under_replicated or self.unavailable or self.under_min_isr or self.at_min_isr)


def describe(cluster: Cluster, names: Sequence[str], shown: Shown) -> list[str]:
    """The lines, topic by topic."""
    found = topics.describe(cluster, names, shown.partitions_per_answer)
    for topic in found:
        check(topic.error_code)
    if not found:
        return []
    settings = configs.describe_many(
        cluster, [Resource(ResourceType.TOPIC, topic.name or "") for topic in found]
    )
    live = {broker.node_id for broker in cluster.brokers()}
    moves = _moves(cluster)
    lines: list[str] = []
    for topic in found:
        held = settings[Resource(ResourceType.TOPIC, topic.name or "")]
        lines.extend(topic_lines(topic, held, shown, live, moves))
    return lines


def _moves(cluster: Cluster) -> Moves:
    """Reassignments are a courtesy: who may not see them, or asks an older broker, sees none."""
    try:
        return reassignments.ongoing(cluster)
    except VersionError:
        return {}
    except ApiError as error:
        if error.code not in {ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.UNSUPPORTED_VERSION}:
            raise
        return {}


def topic_lines(
    topic: Topic,
    settings: Sequence[DescribeConfigsResourceResult],
    shown: Shown,
    live: Iterable[int],
    moves: Moves,
) -> list[str]:
    name = topic.name or ""
    by_name = {row.name: row for row in settings}
    in_order = [by_name[setting] for setting in strings_in_java_order(by_name)]  # of Kafka's hash map
    own = [row for row in in_order if row.config_source != Source.DEFAULT_CONFIG]
    partitions = sorted(topic.partitions, key=lambda row: row.partition_index)
    lines = []
    if shown.topic_lines and (own or not shown.only_overrides):
        factor = replication_factor(partitions[0], moves.get(TopicPartition(name, 0))) if partitions else 0
        identity = f"\tTopicId: {uuid_text(topic.topic_id)}" if topic.topic_id != ZERO_UUID else ""
        listed = ",".join(f"{row.name}={_text(row.value)}" for row in own)
        lines.append(
            f"Topic: {name}{identity}\tPartitionCount: {len(partitions)}\tReplicationFactor: {factor}"
            f"\tConfigs: {listed}"
        )
    if not shown.only_overrides:
        required = next((int(row.value or 1) for row in settings if row.name == "min.insync.replicas"), 1)
        for row in partitions:
            move = moves.get(TopicPartition(name, row.partition_index))
            if shown.topic_lines or _troubled(row, shown, live, required, move):
                lines.append(partition_line(name, row, move))
    return lines


def _text(value: str | None) -> str:
    return "null" if value is None else value


def replication_factor(partition: Partition, move: OngoingPartitionReassignment | None) -> int:
    """Replicas that a running reassignment only adds do not count yet."""
    if move is not None and {*move.adding_replicas, *move.removing_replicas} & set(partition.replica_nodes):
        return len(move.replicas) - len(move.adding_replicas)
    return len(partition.replica_nodes)


def _troubled(
    partition: Partition,
    shown: Shown,
    live: Iterable[int],
    required: int,
    move: OngoingPartitionReassignment | None,
) -> bool:
    leaderless = partition.leader_id < 0
    in_sync = len(partition.isr_nodes)
    return (
        (shown.under_replicated and replication_factor(partition, move) > in_sync)
        or (shown.unavailable and (leaderless or partition.leader_id not in live))
        or (shown.under_min_isr and (leaderless or in_sync < required))
        or (shown.at_min_isr and in_sync == required)
    )


def partition_line(name: str, partition: Partition, move: OngoingPartitionReassignment | None) -> str:
    leader = "none" if partition.leader_id < 0 else partition.leader_id
    moving = ""
    if move is not None:
        adding, removing = _joined(move.adding_replicas), _joined(move.removing_replicas)
        moving = f"\tAdding Replicas: {adding}\tRemoving Replicas: {removing}"
    return (
        f"\tTopic: {name}\tPartition: {partition.partition_index}\tLeader: {leader}"
        f"\tReplicas: {_joined(partition.replica_nodes)}\tIsr: {_joined(partition.isr_nodes)}{moving}"
        f"\tElr: {_joined(partition.eligible_leader_replicas)}"
        f"\tLastKnownElr: {_joined(partition.last_known_elr)}"
    )


def _joined(nodes: Sequence[int] | None) -> str:
    return "N/A" if nodes is None else ",".join(map(str, nodes))
