"""Who leads a partition, who counts as in sync with it, and who may lead it should nobody be (KIP-966).

An in-sync replica has all that was committed. As long as fewer than `min.insync.replicas` are in sync nothing
is committed, so whoever left the set since then still has everything: these are the eligible leader replicas
(ELR), and lead when no in-sync replica is left. A broker that started without a clean stop may have lost
records, and is in neither set any more. Where both sets are empty only the last known leader may lead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.controller.topics import new_topic_id
from barnabas.controller.znodes.topics import encode_state, encode_topic
from barnabas.model.ids import ZERO_UUID
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


@dataclass(frozen=True, slots=True)
class ElectionRules:
    """A topic's settings, as far as its leaders depend on them."""

    min_insync_replicas: int
    unclean: bool


def settled(
    image: ClusterImage,
    partition: PartitionImage,
    rules: ElectionRules,
    *,
    restarted: Collection[int] = (),
    unclean_starts: Collection[int] = (),
) -> PartitionImage:
    """The partition as it should be while these brokers are here: itself if nothing has to change.

    Those with `unclean_starts` are in sync with nothing. They and the `restarted` lead in a new epoch: by it
    consumers find out what a leader may have lost.
    """
    isr = staying(image, partition.isr, unclean_starts)
    after = led(image, with_isr(partition, isr, rules, unclean_starts), rules)
    returned = partition.leader in restarted or partition.leader in unclean_starts
    return numbered(partition, after, is_renewed=after.has_leader and returned)


def staying(
    image: ClusterImage, isr: tuple[int, ...], unclean_starts: Collection[int] = ()
) -> tuple[int, ...]:
    """Whoever stops in good order goes, unless nobody else is in sync."""
    active = tuple(broker for broker in isr if image.is_active(broker) and broker not in unclean_starts)
    return tuple(broker for broker in active if image.may_lead(broker)) or active


def with_isr(
    partition: PartitionImage,
    isr: tuple[int, ...],
    rules: ElectionRules,
    unclean_starts: Collection[int] = (),
) -> PartitionImage:
    """With other in-sync replicas, and the eligible leader replicas that follow from them."""
    if len(isr) >= _enough(partition, rules):
        return replace(partition, isr=isr, elr=(), last_known_elr=())
    eligible = {*partition.isr, *partition.elr}.intersection(partition.replicas)
    last_known = partition.last_known_elr
    if partition.isr and not isr:
        last_known = (partition.leader if partition.has_leader else partition.isr[0],)
    return replace(
        partition,
        isr=isr,
        elr=tuple(sorted(eligible.difference(isr, unclean_starts))),
        last_known_elr=last_known,
    )


def _enough(partition: PartitionImage, rules: ElectionRules) -> int:
    return max(1, min(rules.min_insync_replicas, len(partition.replicas)))


def led(image: ClusterImage, partition: PartitionImage, rules: ElectionRules) -> PartitionImage:
    """With the leader it has, if that one is in sync, or else with its next one, or with none."""
    leader = _next_leader(image, partition, unclean=rules.unclean)
    if leader == NO_LEADER:
        return replace(partition, leader=NO_LEADER)
    if leader in partition.isr:
        return replace(partition, leader=leader, last_known_elr=())
    alone = replace(partition, leader=leader, isr=(), last_known_elr=())
    # Others who were eligible stay so beside one of them, and lack what another leader writes.
    return with_isr(alone if leader in partition.elr else replace(alone, elr=()), (leader,), rules)


def _next_leader(image: ClusterImage, partition: PartitionImage, *, unclean: bool) -> int:
    if partition.leader in partition.isr:
        return partition.leader
    candidates = [broker for broker in partition.replicas if image.may_lead(broker)]
    if partition.isr:
        # Those in sync who may not lead are about to stop, and here still: nothing is given up yet.
        permitted: Collection[int] = partition.isr
    elif any(broker in partition.elr for broker in candidates):
        permitted = partition.elr
    elif not partition.elr and any(broker in partition.last_known_elr for broker in candidates):
        permitted = partition.last_known_elr
    else:
        permitted = candidates if unclean else ()
    return next((broker for broker in candidates if broker in permitted), NO_LEADER)


def numbered(before: PartitionImage, after: PartitionImage, *, is_renewed: bool = False) -> PartitionImage:
    """With the epochs that the change asks for; `before` itself if there is none."""
    if after == before and not is_renewed:
        return before
    has_new_leader = is_renewed or after.leader != before.leader
    return replace(
        after,
        leader_epoch=before.leader_epoch + (1 if has_new_leader else 0),
        partition_epoch=before.partition_epoch + 1,
    )


def state_writes(image: ClusterImage, changed: Iterable[tuple[str, PartitionImage]]) -> list[Write]:
    """Each replaces the state that the decision was made on, and no other."""
    return [
        Set(
            tree.state_path(topic, partition.index),
            encode_state(partition, image.controller_epoch),
            partition.partition_epoch - 1,
        )
        for topic, partition in changed
    ]


def complete(image: ClusterImage, random: Random) -> Decision[str]:
    """Make whole what a tool, or a crash between two parts of a large multi, left half done: topics without
    id get one, partitions without state get a leader as soon as one of their replicas is active. The results
    are the topics' names."""
    names: list[str] = []
    operations: list[Write] = []
    deltas: list[Delta] = []
    for topic in image.topics.values():
        if topic.id != ZERO_UUID and all(partition.is_initialised for partition in topic.partitions):
            continue  # of thousands nearly all are like this
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
    active = tuple(broker for broker in partition.replicas if image.may_lead(broker))
    if not active:
        return partition
    return replace(partition, isr=active, leader=active[0], leader_epoch=0, partition_epoch=0)
