"""Where replicas are, as kafka-reassign-partitions asks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from barnabas.cli.parts.reassign_json import plan_text
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster, check
from barnabas.wire.admin import reassignments, topics
from barnabas.wire.admin.reassignments import Replica

Replicas = Mapping[TopicPartition, Sequence[int]]


def of_topics(cluster: Cluster, names: Sequence[str]) -> dict[TopicPartition, Sequence[int]]:
    """Of all partitions of these topics, each of which must be there."""
    found: dict[TopicPartition, Sequence[int]] = {}
    for topic in topics.describe(cluster, names):
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Topic {topic.name} not found.")
        check(topic.error_code)
        for row in topic.partitions:
            found[TopicPartition(topic.name or "", row.partition_index)] = row.replica_nodes
    return found


def of_partitions(cluster: Cluster, wanted: Replicas) -> dict[TopicPartition, Sequence[int]]:
    found = of_topics(cluster, sorted({partition.topic for partition in wanted}))
    missing = [partition for partition in wanted if partition not in found]
    if missing:
        message = f"Unable to find partition: {', '.join(map(str, missing))}"
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    return {partition: found[partition] for partition in wanted}


def of_those_there(cluster: Cluster, wanted: Sequence[TopicPartition]) -> dict[TopicPartition, Sequence[int]]:
    return {
        TopicPartition(topic.name or "", row.partition_index): row.replica_nodes
        for topic in topics.describe(cluster, sorted({partition.topic for partition in wanted}))
        for row in topic.partitions
    }


def current_text(cluster: Cluster, current: Replicas) -> str:
    """With the log directories of the replicas whose brokers are there to ask."""
    alive = {broker.node_id for broker in cluster.brokers()}
    replicas = [Replica(*partition, broker) for partition in current for broker in current[partition]]
    places = reassignments.places(cluster, [replica for replica in replicas if replica.broker in alive])
    return plan_text(current, {replica: place.current for replica, place in places.items() if place.current})
