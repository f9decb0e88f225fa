"""Who leads a partition."""

from __future__ import annotations

from dataclasses import replace

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.controller.topics import new_topic_id
from barnabas.controller.znodes.topics import encode_state, encode_topic
from barnabas.model.ids import ZERO_UUID, TopicPartition
from barnabas.model.image import (
    NO_LEADER,
    ClusterImage,
    Delta,
    PartitionChanged,
    PartitionImage,
    TopicCreated,
    TopicImage,
)
from barnabas.ports import Put, Random, Set, Write


def elect(image: ClusterImage, partition: PartitionImage, *, unclean: bool = False) -> PartitionImage:
    """The partition with its next leader: the first of its replicas that is in sync and active.

    If there is none it has no leader, and keeps its in-sync replicas: they alone may lead when they return.
    With `unclean`, any active replica may lead, alone in sync; what it lacks is lost.
    """
    active = [broker for broker in partition.replicas if image.is_active(broker)]
    clean = [broker for broker in active if broker in partition.isr]
    if clean:
        leader, isr = clean[0], tuple(broker for broker in partition.isr if image.is_active(broker))
    elif unclean and active:
        leader, isr = active[0], (active[0],)
    else:
        leader, isr = NO_LEADER, partition.isr
    return replace(
        partition,
        leader=leader,
        isr=isr,
        leader_epoch=partition.leader_epoch + 1,
        partition_epoch=partition.partition_epoch + 1,
    )


def lead_again(image: ClusterImage, broker_id: int) -> Decision[TopicPartition]:
    """A broker is back with a new epoch: elect for what it led, and for what has no leader and waits for it.

    The leader epoch rises even when the leader stays the same: after a crash it may lack what consumers have
    already read, and they find that out by the epoch. The results are the partitions.
    """
    changed = [
        (topic.name, elect(image, partition))
        for topic in image.topics.values()
        for partition in topic.partitions
        if partition.is_initialised and _concerns(partition, broker_id)
    ]
    if not changed:
        return Decision(())
    operations = [
        Set(
            tree.state_path(topic, partition.index),
            encode_state(partition, image.controller_epoch),
            partition.partition_epoch - 1,
        )
        for topic, partition in changed
    ]
    return Decision(
        tuple(TopicPartition(topic, partition.index) for topic, partition in changed),
        (fence(image), *operations),
        tuple(PartitionChanged(topic, partition) for topic, partition in changed),
    )


def _concerns(partition: PartitionImage, broker_id: int) -> bool:
    return partition.leader == broker_id or (not partition.has_leader and broker_id in partition.isr)


def complete(image: ClusterImage, random: Random) -> Decision[str]:
    """Make whole what a tool, or a crash between two parts of a large multi, left half done: topics without
    id get one, partitions without state get a leader as soon as one of their replicas is active. The results
    are the topics' names."""
    names: list[str] = []
    operations: list[Write] = []
    deltas: list[Delta] = []
    for topic in image.topics.values():
        whole = _completed(image, topic, random)
        if whole == topic:
            continue
        names.append(topic.name)
        changed = [new for new, old in zip(whole.partitions, topic.partitions, strict=True) if new != old]
        for partition in changed:
            state = encode_state(partition, image.controller_epoch)
            operations.append(Put(tree.state_path(topic.name, partition.index), state))
        if topic.id == ZERO_UUID:
            operations.append(Set(tree.topic_path(topic.name), encode_topic(whole)))
            deltas.append(TopicCreated(whole))
        else:
            deltas.extend(PartitionChanged(topic.name, partition) for partition in changed)
    if not names:
        return Decision(())
    return Decision(tuple(names), (fence(image), *operations), tuple(deltas))


def _completed(image: ClusterImage, topic: TopicImage, random: Random) -> TopicImage:
    partitions = tuple(
        partition if partition.is_initialised else _first_leader(image, partition)
        for partition in topic.partitions
    )
    topic_id = new_topic_id(image, random) if topic.id == ZERO_UUID else topic.id
    return TopicImage(topic.name, topic_id, partitions)


def _first_leader(image: ClusterImage, partition: PartitionImage) -> PartitionImage:
    """Nothing was ever written to it, so every active replica is in sync."""
    active = tuple(broker for broker in partition.replicas if image.is_active(broker))
    if not active:
        return partition
    return replace(partition, isr=active, leader=active[0], leader_epoch=0, partition_epoch=0)
