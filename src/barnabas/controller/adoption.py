"""A log directory that Apache Kafka wrote: its partitions become topics of ours, with their ids and settings.

Done once, when the metadata store knows no topic yet. A partition that lived on another broker of the old
cluster is not here; it begins empty.
"""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.controller.decision import Decision, fence
from barnabas.controller.topics import new_topic_id, topic_deltas, topic_writes
from barnabas.model.ids import ZERO_UUID, TopicPartition
from barnabas.model.image import ClusterImage, PartitionImage, TopicImage
from barnabas.ports import Random


def adopt(
    image: ClusterImage,
    found: Mapping[TopicPartition, tuple[bytes | None, int]],
    configs: Mapping[str, Mapping[str, str]],
    broker_id: int,
    random: Random,
) -> Decision[TopicImage]:
    """`found`: of every partition in the directories, its topic id and its latest leader epoch."""
    topics = [_topic(image, name, found, broker_id, random) for name in sorted({p.topic for p in found})]
    operations = [
        operation for topic in topics for operation in topic_writes(image, topic, configs.get(topic.name, {}))
    ]
    deltas = [delta for topic in topics for delta in topic_deltas(topic, configs.get(topic.name, {}))]
    return Decision(tuple(topics), (fence(image), *operations), tuple(deltas))


def _topic(
    image: ClusterImage,
    name: str,
    found: Mapping[TopicPartition, tuple[bytes | None, int]],
    broker_id: int,
    random: Random,
) -> TopicImage:
    ours = {place.partition: details for place, details in found.items() if place.topic == name}
    topic_id = next((known for known, _ in ours.values() if known not in {None, ZERO_UUID}), None)
    # Above what the log has seen: the old cluster's leaders are history.
    partitions = tuple(
        PartitionImage(index, (broker_id,), (broker_id,), broker_id, ours.get(index, (None, -1))[1] + 1)
        for index in range(max(ours) + 1)
    )
    return TopicImage(name, topic_id or new_topic_id(image, random), partitions)
