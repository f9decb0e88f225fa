"""What leads from one image to another, for whoever has the first."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from barnabas.model.image import (
    BrokerChanged,
    BrokerGone,
    ClusterImage,
    ConfigChanged,
    ConfigKind,
    ControllerChanged,
    Delta,
    FeaturesChanged,
    PartitionChanged,
    PartitionsAdded,
    ProducerIdsAllocated,
    TopicCreated,
    TopicDeleted,
    TopicImage,
)


def between(old: ClusterImage, new: ClusterImage) -> tuple[Delta, ...] | None:
    """In the order in which a step applies them. None where deltas cannot tell it: that is tried out, since a
    broker that went astray here would never find back."""
    deleted = {name: topic.id for name, topic in old.topics.items() if not _goes_on(topic, new)}
    deltas: list[Delta] = [BrokerGone(one) for one in old.brokers if one not in new.brokers]
    deltas += [BrokerChanged(one) for one in new.brokers.values() if old.brokers.get(one.id) != one]
    deltas += [TopicDeleted(name, topic_id) for name, topic_id in deleted.items()]
    deltas += _topics(old, new, deleted)
    deltas += _configs(old, new, deleted)
    deltas.append(ControllerChanged(new.controller_id, new.controller_epoch, new.controller_epoch_version))
    deltas.append(FeaturesChanged(new.features, new.features_epoch))
    if new.producer_ids is not None:
        deltas.append(ProducerIdsAllocated(new.producer_ids))
    reached = replace(old.apply(deltas), version=new.version)
    return tuple(deltas) if reached == new else None


def _goes_on(topic: TopicImage, new: ClusterImage) -> bool:
    """Another topic may have its name by now."""
    current = new.topics.get(topic.name)
    return current is not None and current.id == topic.id


def _topics(old: ClusterImage, new: ClusterImage, deleted: Collection[str]) -> Iterator[Delta]:
    created = [topic for name, topic in new.topics.items() if name not in old.topics or name in deleted]
    yield from map(TopicCreated, created)
    for name, topic in new.topics.items():
        before = old.topics.get(name)
        if before is None or before is topic or name in deleted:
            continue
        for known, partition in zip(before.partitions, topic.partitions, strict=False):
            if known != partition:
                yield PartitionChanged(name, partition)
        added = topic.partitions[len(before.partitions) :]
        if added:
            yield PartitionsAdded(name, added)


def _configs(old: ClusterImage, new: ClusterImage, deleted: Collection[str]) -> Iterator[Delta]:
    for resource in old.configs:
        if resource not in new.configs:
            yield ConfigChanged(resource, {})
    for resource, values in new.configs.items():
        has_gone = resource.kind is ConfigKind.TOPIC and resource.name in deleted
        if has_gone or old.configs.get(resource) != values:
            yield ConfigChanged(resource, values)
