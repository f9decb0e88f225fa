"""Brokers: who they are, what they speak, their disks, their producers, the cluster's features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.api_versions import ApiVersionsResponse
from barnabas.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from barnabas.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from barnabas.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    TopicRequest,
)
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from barnabas.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from barnabas.wire.cluster import ANY, Cluster
from barnabas.wire.codes import check, known
from barnabas.wire.routing import from_controller, from_leaders


def describe_cluster(cluster: Cluster, include_fenced: bool = False) -> DescribeClusterResponse:
    answer = cluster.call(
        DescribeClusterRequest(include_fenced_brokers=include_fenced), DescribeClusterResponse
    )
    check(answer.error_code, answer.error_message)
    return answer


def unregister(cluster: Cluster, broker_id: int) -> None:
    """Forget a broker that is gone for good."""
    request = UnregisterBrokerRequest(broker_id)
    answer = from_controller(cluster, request, UnregisterBrokerResponse, lambda got: [got.error_code])
    check(answer.error_code, answer.error_message)


def api_versions(cluster: Cluster, node_id: int = ANY) -> ApiVersionsResponse:
    """What the broker said when we connected: its APIs and its features."""
    return cluster.retrying(lambda: cluster.connection(node_id).api_versions)


def log_dirs(
    cluster: Cluster, node_id: int, partitions: Iterable[TopicPartition] | None = None
) -> Sequence[DescribeLogDirsResult]:
    """Every log directory of the broker with every replica in it, or with those asked for; a failed directory
    carries its error."""
    asked = None
    if partitions is not None:
        asked = [DescribableLogDirTopic(name, rows) for name, rows in grouped(partitions).items()]
    answer = cluster.call(DescribeLogDirsRequest(asked), DescribeLogDirsResponse, node_id)
    check(answer.error_code)
    return answer.results


def producers(
    cluster: Cluster, partitions: Sequence[TopicPartition], node_id: int | None = None
) -> dict[TopicPartition, PartitionResponse | ApiError]:
    """Idempotent and transactional producers that the leaders remember, or this broker."""

    def ask(
        node_id: int, group: list[TopicPartition]
    ) -> Iterator[tuple[TopicPartition, PartitionResponse | ApiError]]:
        request = DescribeProducersRequest([TopicRequest(*row) for row in grouped(group).items()])
        for topic in cluster.call_once(request, DescribeProducersResponse, node_id).topics:
            for row in topic.partitions:
                failed = ApiError(known(row.error_code), row.error_message) if row.error_code else None
                yield TopicPartition(topic.name, row.partition_index), failed or row

    if node_id is None:
        return from_leaders(cluster, partitions, ask)
    return cluster.retrying(lambda: dict(ask(node_id, list(partitions))))


def grouped(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Indexes by topic, as requests name them."""
    indexes: dict[str, list[int]] = {}
    for partition in partitions:
        indexes.setdefault(partition.topic, []).append(partition.partition)
    return indexes


def update_features(
    cluster: Cluster, levels: Mapping[str, int], upgrade_type: int = 1, validate_only: bool = False
) -> None:
    """`upgrade_type`: 1 upgrade, 2 safe downgrade, 3 unsafe downgrade."""
    updates = [
        FeatureUpdateKey(name, level, upgrade_type, upgrade_type > 1) for name, level in levels.items()
    ]
    request = UpdateFeaturesRequest(cluster.settings.request_timeout_ms, updates, validate_only)
    answer = from_controller(cluster, request, UpdateFeaturesResponse, lambda got: [got.error_code])
    check(answer.error_code, answer.error_message)
    for result in answer.results:
        check(result.error_code, result.error_message)
