"""Moving replicas: from broker to broker, and from one log directory of a broker to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from barnabas.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from barnabas.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
    OngoingPartitionReassignment,
)
from barnabas.wire.admin import brokers
from barnabas.wire.admin.brokers import grouped
from barnabas.wire.cluster import Cluster
from barnabas.wire.codes import check, known
from barnabas.wire.routing import from_controller

ALTER_REPLICA_LOG_DIRS = 34


class Replica(NamedTuple):
    """A partition on a broker. Its text is Kafka's."""

    topic: str
    partition: int
    broker: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}-{self.broker}"


class ReplicaPlace(NamedTuple):
    current: str | None = None  # the log directory that holds it
    future: str | None = None  # the one that it is being copied to


def ongoing(
    cluster: Cluster, partitions: Iterable[TopicPartition] | None = None
) -> dict[TopicPartition, OngoingPartitionReassignment]:
    """What is being moved right now: everything, or what of these partitions is."""
    asked = None
    if partitions is not None:
        asked = [ListPartitionReassignmentsTopics(*row) for row in grouped(partitions).items()]
    request = ListPartitionReassignmentsRequest(cluster.settings.request_timeout_ms, asked)
    answer = from_controller(
        cluster, request, ListPartitionReassignmentsResponse, lambda got: [got.error_code]
    )
    check(answer.error_code, answer.error_message)
    return {
        TopicPartition(topic.name, row.partition_index): row
        for topic in answer.topics
        for row in topic.partitions
    }


def alter(
    cluster: Cluster,
    targets: Mapping[TopicPartition, Sequence[int] | None],
    allow_replication_factor_change: bool = True,
) -> dict[TopicPartition, ApiError]:
    """Begin to move each partition to its brokers; None takes its move back. What was refused comes back."""
    rows: dict[str, list[ReassignablePartition]] = {}
    for (topic, partition), replicas in targets.items():
        rows.setdefault(topic, []).append(ReassignablePartition(partition, replicas))
    request = AlterPartitionReassignmentsRequest(
        cluster.settings.request_timeout_ms,
        allow_replication_factor_change,
        [ReassignableTopic(name, partitions) for name, partitions in rows.items()],
    )
    answer = from_controller(
        cluster, request, AlterPartitionReassignmentsResponse, lambda got: [got.error_code]
    )
    check(answer.error_code, answer.error_message)
    return {
        TopicPartition(topic.name, row.partition_index): ApiError(known(row.error_code), row.error_message)
        for topic in answer.responses
        for row in topic.partitions
        if row.error_code
    }


# --- log directories -------------------------------------------------------------------------------------


def places(cluster: Cluster, replicas: Iterable[Replica]) -> dict[Replica, ReplicaPlace]:
    """Where the brokers keep these replicas; directories that failed are passed over."""
    wanted: dict[int, list[TopicPartition]] = {}
    for replica in replicas:
        wanted.setdefault(replica.broker, []).append(TopicPartition(replica.topic, replica.partition))
    found: dict[Replica, ReplicaPlace] = {}
    for broker, partitions in wanted.items():
        found.update((Replica(*partition, broker), ReplicaPlace()) for partition in partitions)
        for directory in brokers.log_dirs(cluster, broker, partitions):
            if directory.error_code:
                continue
            for topic in directory.topics:
                for row in topic.partitions:
                    key = Replica(topic.name, row.partition_index, broker)
                    place = found.get(key, ReplicaPlace())
                    what = {"future" if row.is_future_key else "current": directory.log_dir}
                    found[key] = place._replace(**what)
    return found


def serves_log_dir_moves(cluster: Cluster) -> bool:
    return cluster.retrying(lambda: cluster.connection().serves(ALTER_REPLICA_LOG_DIRS))


def move_log_dirs(cluster: Cluster, targets: Mapping[Replica, str]) -> dict[Replica, ApiError | None]:
    """Ask every broker to move its replicas to these directories: what each was answered."""
    answers: dict[Replica, ApiError | None] = {}
    for broker in sorted({replica.broker for replica in targets}):
        mine = {replica: path for replica, path in targets.items() if replica.broker == broker}
        request = AlterReplicaLogDirsRequest([_directory(path, mine) for path in sorted({*mine.values()})])
        for topic in cluster.call(request, AlterReplicaLogDirsResponse, broker).results:
            for row in topic.partitions:
                error = ApiError(known(row.error_code)) if row.error_code else None
                answers[Replica(topic.topic_name, row.partition_index, broker)] = error
    return answers


def _directory(path: str, targets: Mapping[Replica, str]) -> AlterReplicaLogDir:
    inside = [
        TopicPartition(replica.topic, replica.partition) for replica in targets if targets[replica] == path
    ]
    return AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(*row) for row in grouped(inside).items()])
