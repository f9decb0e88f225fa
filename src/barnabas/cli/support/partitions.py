"""Which partitions topics have, who leads them, and where they begin and end."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster, check
from barnabas.wire.admin import offsets
from barnabas.wire.admin.offsets import Spec


def of_topics(cluster: Cluster, names: Iterable[str]) -> dict[TopicPartition, bool]:
    """Every partition of these topics, and whether it has a leader. A topic that is not there is an error."""
    wanted = sorted(set(names))
    found = {}
    for topic in cluster.metadata(wanted).topics if wanted else ():
        check(topic.error_code)
        for row in topic.partitions:
            found[TopicPartition(topic.name or "", row.partition_index)] = row.leader_id >= 0
    return dict(sorted(found.items()))


def offsets_at(
    cluster: Cluster, partitions: Collection[TopicPartition], place: Spec | int
) -> dict[TopicPartition, int]:
    """The offset of a place or a time in each partition; -1 where no record is as young as the time."""
    found = {}
    answers = offsets.list_offsets(cluster, dict.fromkeys(partitions, int(place))) if partitions else {}
    for partition, answer in answers.items():
        if isinstance(answer, ApiError):
            raise answer
        found[partition] = answer.offset
    return found


def ends(cluster: Cluster, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
    """Where each partition ends; those without a leader, whom nobody can ask, are left out."""
    led = of_topics(cluster, {partition.topic for partition in partitions})
    return offsets_at(cluster, [one for one in partitions if led.get(one)], Spec.LATEST)


def on_broker(cluster: Cluster, names: Iterable[str], broker_id: int) -> list[TopicPartition]:
    """The partitions of these topics that have a replica there."""
    found = []
    for topic in cluster.metadata(sorted(set(names))).topics:
        check(topic.error_code)
        for row in topic.partitions:
            if broker_id in row.replica_nodes:
                found.append(TopicPartition(topic.name or "", row.partition_index))
    return sorted(found)
