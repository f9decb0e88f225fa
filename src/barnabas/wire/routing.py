"""Questions that only the controller, a partition's leader, or all brokers together can answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.schema import Message
from barnabas.wire.cluster import CONTROLLER, Cluster

T = TypeVar("T")
R = TypeVar("R", bound=Message)


def from_controller(
    cluster: Cluster,
    request: Message,
    answer: type[R],
    codes: Callable[[R], Iterable[int]],
    node_id: int = CONTROLLER,
) -> R:
    """Ask the controller, and again if it has moved. Every other error code is an answer: that a topic does
    not exist may change for a consumer that waits, not for somebody who asks to delete it."""

    def attempt() -> R:
        got = cluster.call_once(request, answer, node_id)
        if ErrorCode.NOT_CONTROLLER in codes(got):
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        return got

    return cluster.retrying(attempt)


def from_leaders(
    cluster: Cluster,
    wanted: Iterable[TopicPartition],
    ask: Callable[[int, list[TopicPartition]], Iterable[tuple[TopicPartition, T | ApiError]]],
) -> dict[TopicPartition, T | ApiError]:
    """Call `ask(broker, partitions)` for every leader, and again for the partitions whose answer a retry may
    cure. A partition that fails for good, or until the time is over, has its error as its answer."""
    partitions = list(wanted)
    done: dict[TopicPartition, T | ApiError] = {}
    trouble: dict[TopicPartition, ApiError] = {}

    def attempt() -> None:
        trouble.clear()
        grouped, missing = cluster.locate(partition for partition in partitions if partition not in done)
        for partition, error in missing.items():
            (trouble if error.code.retriable else done)[partition] = error
        for node_id, group in grouped.items():
            for partition, answer in ask(node_id, group):
                if isinstance(answer, ApiError) and answer.code.retriable:
                    trouble[partition] = answer
                else:
                    done[partition] = answer
        for error in trouble.values():
            raise error

    try:
        cluster.retrying(attempt)
    except ApiError as error:
        for partition in partitions:
            done.setdefault(partition, trouble.get(partition, error))
    return done


def from_every_broker(cluster: Cluster, ask: Callable[[int], Iterable[T]]) -> list[T]:
    """What all brokers know together. If one fails, all are asked again: what it knew may be with another
    by then, and one that is gone is not waited for."""

    def attempt() -> list[T]:
        return [row for broker in cluster.brokers() for row in ask(broker.node_id)]

    return cluster.retrying(attempt)
