"""A broker that comes back leads again, in a new epoch: what its last life wrote after its last sync may be
gone, and whoever read that must be able to notice."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.controller.elections import elect
from barnabas.controller.znodes.topics import encode_state
from barnabas.model.image import ClusterImage, PartitionChanged, TopicImage
from barnabas.ports import Put


def resume(image: ClusterImage, broker_id: int) -> Decision[str]:
    """Elect anew every partition that this broker holds. The results are the topics' names."""
    changed = [
        (topic, elect(image, partition))
        for topic in image.topics.values()
        for partition in topic.partitions
        if broker_id in partition.replicas and partition.is_initialised
    ]
    if not changed:
        return Decision(())
    operations = [
        Put(tree.state_path(topic.name, new.index), encode_state(new, image.controller_epoch))
        for topic, new in changed
    ]
    deltas = tuple(PartitionChanged(topic.name, new) for topic, new in changed)
    return Decision(_names(topic for topic, _ in changed), (fence(image), *operations), deltas)


def _names(topics: Iterable[TopicImage]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(topic.name for topic in topics))
