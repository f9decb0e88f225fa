"""Leaders: back to the preferred replica, or any replica where nobody leads."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from barnabas.wire.cluster import Cluster
from barnabas.wire.codes import check, known
from barnabas.wire.routing import from_controller

PREFERRED, UNCLEAN = 0, 1


def elect(
    cluster: Cluster, kind: int, partitions: Iterable[TopicPartition] | None
) -> dict[TopicPartition, ApiError | None]:
    """What became of each partition; of all of them where none are named, without those that are fine."""
    rows = None
    if partitions is not None:
        indexes: dict[str, list[int]] = {}
        for partition in partitions:
            indexes.setdefault(partition.topic, []).append(partition.partition)
        rows = [TopicPartitions(topic, found) for topic, found in indexes.items()]
    request = ElectLeadersRequest(kind, rows, cluster.settings.request_timeout_ms)
    answer = from_controller(cluster, request, ElectLeadersResponse, lambda got: [got.error_code])
    check(answer.error_code)
    return {
        TopicPartition(topic.topic, row.partition_id): (
            ApiError(known(row.error_code), row.error_message) if row.error_code else None
        )
        for topic in answer.replica_election_results
        for row in topic.partition_result
    }
