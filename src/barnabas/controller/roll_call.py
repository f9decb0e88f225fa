"""Brokers that went, and brokers that came: what the image says against who is registered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.controller.liveness import ElectionRules, admit, settle
from barnabas.model.image import BrokerChanged, BrokerGone, BrokerImage, ClusterImage, Delta
from barnabas.ports import Delete, Write


def departures(
    image: ClusterImage, registered: Mapping[int, BrokerImage], rules: Callable[[str], ElectionRules]
) -> Decision[int]:
    """Whoever is not registered any more, or in a later life; others lead in their place."""
    gone = [
        broker.id
        for broker in image.brokers.values()
        if broker.id not in registered or registered[broker.id].epoch != broker.epoch
    ]
    if not gone:
        return Decision(())
    deltas: tuple[Delta, ...] = tuple(BrokerGone(broker_id) for broker_id in gone)
    settled = settle(image.apply(deltas), rules)
    operations = settled.operations or (fence(image),)
    return Decision(tuple(gone), operations, (*deltas, *settled.deltas))


def unregister(image: ClusterImage, broker_id: int, rules: Callable[[str], ElectionRules]) -> Decision[int]:
    """Whoever has this id goes as if its session had ended. No results: nobody has it.

    The registration is deleted last: a crash between the parts of a large multi leaves a broker that is in
    sync with less, and catches up.
    """
    others = {broker.id: broker for broker in image.brokers.values() if broker.id != broker_id}
    departure = departures(image, others, rules)
    if not departure.results:
        return departure
    forgotten = Delete(tree.broker_path(broker_id), missing_ok=True)
    return replace(departure, operations=(*departure.operations, forgotten))


def arrivals(
    image: ClusterImage,
    registered: Mapping[int, BrokerImage],
    rules: Callable[[str], ElectionRules],
    *,
    now_ms: int,
) -> Decision[int]:
    """Whoever is registered and new to the image. One that did not stop in good order is admitted first."""
    came = [broker for broker in registered.values() if broker.id not in image.brokers]
    if not came:
        return Decision(())
    deltas: list[Delta] = [BrokerChanged(broker) for broker in came]
    operations: list[Write] = [fence(image)]
    grown = image.apply(deltas)
    for broker in [broker for broker in came if broker.fenced]:
        admitted = admit(grown, broker.id, rules, now_ms=now_ms)
        operations += admitted.operations[1:]
        deltas += admitted.deltas
        grown = grown.apply(admitted.deltas)
    settled = settle(grown, rules)
    operations += settled.operations[1:]
    return Decision(tuple(broker.id for broker in came), tuple(operations), (*deltas, *settled.deltas))
