"""Who leads when brokers come and go."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.controller.elections import elect
from barnabas.controller.znodes.cluster import encode_broker
from barnabas.controller.znodes.topics import encode_state
from barnabas.model.ids import TopicPartition
from barnabas.model.image import BrokerChanged, ClusterImage, PartitionChanged, PartitionImage
from barnabas.ports import Set


@dataclass(frozen=True, slots=True)
class ElectionRules:
    min_insync_replicas: int
    unclean: bool


def settle(
    image: ClusterImage, rules: Callable[[str], ElectionRules], restarted: Collection[int] = ()
) -> Decision[TopicPartition]:
    """Every partition gets the leader and the in-sync replicas that it should have."""
    changed = [
        (topic.name, after)
        for topic in image.topics.values()
        for before in topic.partitions
        if before.is_initialised
        and (after := _settled(image, before, rules(topic.name), restarted)) is not before
    ]
    if not changed:
        return Decision(())
    operations = [
        Set(tree.state_path(name, p.index), encode_state(p, image.controller_epoch), p.partition_epoch - 1)
        for name, p in changed
    ]
    return Decision(
        tuple(TopicPartition(name, partition.index) for name, partition in changed),
        (fence(image), *operations),
        tuple(PartitionChanged(name, partition) for name, partition in changed),
    )


def _settled(
    image: ClusterImage, partition: PartitionImage, rules: ElectionRules, restarted: Collection[int]
) -> PartitionImage:
    if not image.may_lead(partition.leader) or partition.leader in restarted:
        elected = elect(image, partition, unclean=rules.unclean)
        return elected if elected.leader != partition.leader or partition.leader in restarted else partition
    if all(map(image.is_active, partition.isr)):
        return partition
    isr = tuple(broker for broker in partition.isr if image.is_active(broker))
    return replace(partition, isr=isr, partition_epoch=partition.partition_epoch + 1)


def admit(
    image: ClusterImage, broker_id: int, rules: Callable[[str], ElectionRules]
) -> Decision[TopicPartition]:
    """A broker that did not stop in good order may take part from now on."""
    broker = replace(image.brokers[broker_id], fenced=False)
    settled = settle(image.apply([BrokerChanged(broker)]), rules)
    accepted = Set(tree.broker_path(broker_id), encode_broker(broker, 0))
    return Decision(
        settled.results,
        (fence(image), *settled.operations[1:], accepted),
        (BrokerChanged(broker), *settled.deltas),
    )
