"""`replica.selector.class`: which replica the leader sends a consumer to (KIP-392)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeAlias

from barnabas.broker.replication.partition import Partition
from barnabas.replication.read_replica import RACK_AWARE, Candidate, nearest

if TYPE_CHECKING:
    from barnabas.broker.node import Node

NO_REPLICA = -1


class Client(Protocol):
    @property
    def rack_id(self) -> str: ...

    @property
    def listener(self) -> str: ...


# The broker to read from this offset on; NO_REPLICA: the leader, who is asked this.
Choice: TypeAlias = Callable[[Partition, int, Client], int]


def replica_choice(node: Node) -> Choice | None:
    if node.settings.optional_text("replica.selector.class") != RACK_AWARE:
        return None

    def choose(partition: Partition, fetch_offset: int, client: Client) -> int:
        leader = node.image.brokers.get(node.broker_id)
        chosen = nearest(
            client.rack_id,
            None if leader is None else leader.rack,
            _candidates(node, partition, fetch_offset, client.listener),
        )
        return NO_REPLICA if chosen is None else chosen

    return choose


def _candidates(
    node: Node, partition: Partition, fetch_offset: int, listener: str
) -> Iterator[tuple[str | None, Candidate]]:
    """Who is not in sync may fall behind further, and so would its readers: such a one is not offered."""
    leading = partition.leading
    if leading is None:
        return
    for broker_id, follower in leading.followers.items():
        broker = node.image.brokers.get(broker_id)
        has_offset = follower.log_start_offset <= fetch_offset <= follower.log_end_offset
        if (
            has_offset
            and broker_id in partition.image.isr
            and broker is not None
            and not broker.fenced
            and broker.endpoint(listener) is not None
        ):
            yield broker.rack, Candidate(follower.log_end_offset, follower.last_caught_up_ms, broker_id)
