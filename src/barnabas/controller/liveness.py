"""What the coming and going of brokers does to every partition."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import TypeAlias, TypeVar

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.controller.elections import ElectionRules, settled, state_writes, staying
from barnabas.controller.znodes.cluster import encode_broker
from barnabas.model.ids import TopicPartition
from barnabas.model.image import BrokerChanged, ClusterImage, PartitionChanged, PartitionImage
from barnabas.ports import Set

__all__ = ["ElectionRules", "Rules", "admit", "leave", "lose_replicas", "settle", "settled_after"]

Result = TypeVar("Result")
Rules: TypeAlias = Callable[[str], ElectionRules]  # by topic

_FIRST_VERSION = 0


def settle(image: ClusterImage, rules: Rules, restarted: Collection[int] = ()) -> Decision[TopicPartition]:
    """Every partition gets the leader and the in-sync replicas that it should have while these brokers are
    here. The results are the partitions that change."""
    return _decided(image, list(_settled(image, rules, restarted)))


def settled_after(image: ClusterImage, decision: Decision[Result], rules: Rules) -> Decision[Result]:
    """The decision, and what leaders and in-sync replicas have to become with it: `rules` are those of the
    image it leads to. These are written first: where fewer replicas suffice from now on, nobody may count as
    eligible to lead any more who was not in sync, before anything is committed without them."""
    settling = settle(image.apply(decision.deltas), rules)
    if not settling.operations:
        return decision
    operations = (fence(image), *settling.operations[1:], *decision.operations[1:])
    return Decision(decision.results, operations, (*decision.deltas, *settling.deltas))


def admit(image: ClusterImage, broker_id: int, rules: Rules, *, now_ms: int) -> Decision[TopicPartition]:
    """A broker that started without a clean stop takes part from now on, in sync with nothing.

    Its registration is written last: a crash between the parts of a large multi leaves it fenced, and the
    next controller begins again. Nobody but a controller writes over a registration, so that one which was
    written over is not admitted a second time.
    """
    broker = replace(image.brokers[broker_id], fenced=False)
    arrival = BrokerChanged(broker)
    settling = _decided(image, list(_settled(image.apply([arrival]), rules, unclean_starts=(broker_id,))))
    accepted = Set(tree.broker_path(broker_id), encode_broker(broker, now_ms), _FIRST_VERSION)
    return Decision(
        settling.results, (fence(image), *settling.operations[1:], accepted), (arrival, *settling.deltas)
    )


def leave(image: ClusterImage, broker_id: int, rules: Rules) -> Decision[TopicPartition]:
    """A broker wishes to stop: others lead in its place and it is in sync with nothing, as far as there are
    others in sync. The results are the partitions it still leads though another replica may catch up and take
    over: reason to wait a little.

    Nothing in the store says that it leaves: its registration goes soon, and to a new controller it says so
    again.
    """
    departure = BrokerChanged(replace(image.brokers[broker_id], leaving=True))
    going = image.apply([departure])
    settling = _decided(image, list(_settled(going, rules)))
    remaining = _led_with_heirs(going.apply(settling.deltas), broker_id)
    if image.brokers[broker_id].leaving and not settling.deltas:
        return Decision(remaining)
    return Decision(remaining, settling.operations or (fence(image),), (departure, *settling.deltas))


def lose_replicas(
    image: ClusterImage, broker_id: int, places: Collection[TopicPartition], rules: Rules
) -> Decision[TopicPartition]:
    """The broker lives and the disk of these replicas does not: others who are in sync go on. The replica is
    not even eligible to lead later: nobody knows what will be on that disk. Where it was the last in sync
    nothing changes, since nobody else has everything."""
    changed = []
    for place in places:
        before = image.partition(*place)
        if before is not None and broker_id in before.isr and staying(image, before.isr, (broker_id,)):
            after = settled(image, before, rules(place.topic), unclean_starts=(broker_id,))
            changed.append((place.topic, after))
    return _decided(image, changed)


def _led_with_heirs(image: ClusterImage, broker_id: int) -> tuple[TopicPartition, ...]:
    return tuple(
        TopicPartition(topic.name, partition.index)
        for topic in image.topics.values()
        for partition in topic.partitions
        if partition.leader == broker_id and any(map(image.may_lead, partition.replicas))
    )


def _settled(
    image: ClusterImage,
    rules: Rules,
    restarted: Collection[int] = (),
    unclean_starts: Collection[int] = (),
) -> Iterator[tuple[str, PartitionImage]]:
    ready = {broker for broker in image.brokers if image.may_lead(broker)}
    sound = ready.difference(restarted, unclean_starts)
    for topic in image.topics.values():
        topic_rules: ElectionRules | None = None
        for before in topic.partitions:
            # Of thousands nearly all are like this, whatever their topic's rules are.
            if before.leader in sound and sound.issuperset(before.isr) and not before.elr:
                continue
            if not before.is_initialised:
                continue
            topic_rules = topic_rules or rules(topic.name)
            after = settled(image, before, topic_rules, restarted=restarted, unclean_starts=unclean_starts)
            if after is not before:
                yield topic.name, after


def _decided(image: ClusterImage, changed: list[tuple[str, PartitionImage]]) -> Decision[TopicPartition]:
    if not changed:
        return Decision(())
    return Decision(
        tuple(TopicPartition(topic, partition.index) for topic, partition in changed),
        (fence(image), *state_writes(image, changed)),
        tuple(PartitionChanged(topic, partition) for topic, partition in changed),
    )
