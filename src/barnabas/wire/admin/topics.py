"""Topics: list, describe, create, delete, grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from barnabas.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from barnabas.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from barnabas.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from barnabas.protocol.messages.metadata import MetadataResponseTopic
from barnabas.wire.cluster import Cluster
from barnabas.wire.codes import check
from barnabas.wire.routing import from_controller

DESCRIBE_TOPIC_PARTITIONS = 75
BROKER_DECIDES = -1  # partitions or replication factor left to the broker's defaults


def names(cluster: Cluster, include_internal: bool = True) -> list[str]:
    found = cluster.metadata().topics
    return [topic.name or "" for topic in found if include_internal or not topic.is_internal]


def ids(cluster: Cluster, topic_ids: Sequence[bytes]) -> Sequence[MetadataResponseTopic]:
    return cluster.metadata((), topic_ids=topic_ids).topics


def create(
    cluster: Cluster,
    name: str,
    partitions: int = BROKER_DECIDES,
    replication_factor: int = BROKER_DECIDES,
    configs: Mapping[str, str] | None = None,
    assignment: Mapping[int, Sequence[int]] | None = None,
    validate_only: bool = False,
) -> CreatableTopicResult:
    """One topic. With an assignment (partition → brokers) the counts must be left to the broker."""
    topic = CreatableTopic(
        name,
        partitions,
        replication_factor,
        [CreatableReplicaAssignment(index, list(nodes)) for index, nodes in (assignment or {}).items()],
        [CreatableTopicConfig(key, value) for key, value in (configs or {}).items()],
    )
    request = CreateTopicsRequest([topic], cluster.settings.request_timeout_ms, validate_only)

    (result,) = from_controller(
        cluster, request, CreateTopicsResponse, lambda got: [row.error_code for row in got.topics]
    ).topics
    check(result.error_code, result.error_message)
    return result


def delete(cluster: Cluster, topics: Sequence[str]) -> Sequence[DeletableTopicResult]:
    """What became of each; the first refusal is raised after all were tried."""
    request = DeleteTopicsRequest(
        [DeleteTopicState(name) for name in topics], list(topics), cluster.settings.request_timeout_ms
    )
    results = from_controller(
        cluster, request, DeleteTopicsResponse, lambda got: [row.error_code for row in got.responses]
    ).responses
    for result in results:
        check(result.error_code, result.error_message)
    return results


def add_partitions(
    cluster: Cluster,
    totals: Mapping[str, int],
    assignments: Mapping[str, Sequence[Sequence[int]]] | None = None,
    validate_only: bool = False,
) -> None:
    """Grow topics to the given totals; assignments are of the new partitions only."""
    asked = [
        CreatePartitionsTopic(name, total, _new_replicas((assignments or {}).get(name)))
        for name, total in totals.items()
    ]
    request = CreatePartitionsRequest(asked, cluster.settings.request_timeout_ms, validate_only)
    answer = from_controller(
        cluster, request, CreatePartitionsResponse, lambda got: [row.error_code for row in got.results]
    )
    for result in answer.results:
        check(result.error_code, result.error_message)


def _new_replicas(rows: Sequence[Sequence[int]] | None) -> list[CreatePartitionsAssignment] | None:
    return None if rows is None else [CreatePartitionsAssignment(list(row)) for row in rows]


def describe(
    cluster: Cluster, topics: Sequence[str], partitions_per_answer: int = 2000
) -> list[DescribeTopicPartitionsResponseTopic]:
    """All partitions of the topics, page by page; from an older broker the same facts through Metadata."""
    if not cluster.retrying(lambda: cluster.connection().serves(DESCRIBE_TOPIC_PARTITIONS)):
        return [_from_metadata(topic) for topic in cluster.metadata(topics).topics]
    found: dict[str, DescribeTopicPartitionsResponseTopic] = {}
    cursor: Cursor | None = None
    asked = [TopicRequest(name) for name in sorted(topics)]
    while asked:
        answer = cluster.call(
            DescribeTopicPartitionsRequest(asked, partitions_per_answer, cursor),
            DescribeTopicPartitionsResponse,
        )
        for topic in answer.topics:
            seen = found.setdefault(topic.name or "", topic)
            if seen is not topic:
                seen.partitions = [*seen.partitions, *topic.partitions]
        if answer.next_cursor is None:
            break
        cursor = Cursor(answer.next_cursor.topic_name, answer.next_cursor.partition_index)
        asked = [topic for topic in asked if topic.name >= cursor.topic_name]
    return list(found.values())


def _from_metadata(topic: MetadataResponseTopic) -> DescribeTopicPartitionsResponseTopic:
    partitions = [
        DescribeTopicPartitionsResponsePartition(
            row.error_code,
            row.partition_index,
            row.leader_id,
            row.leader_epoch,
            row.replica_nodes,
            row.isr_nodes,
            offline_replicas=row.offline_replicas,
        )
        for row in topic.partitions
    ]
    return DescribeTopicPartitionsResponseTopic(
        topic.error_code, topic.name, topic.topic_id, topic.is_internal, partitions
    )
