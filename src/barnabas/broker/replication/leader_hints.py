"""Where the leader is, said along with "not here" (KIP-951): the client need not ask for metadata first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from barnabas.model.image import NO_LEADER

if TYPE_CHECKING:
    from barnabas.broker.node import Node


class LeaderNode(NamedTuple):
    """In the order of a `NodeEndpoint`, Produce's and Fetch's alike."""

    id: int
    host: str
    port: int
    rack: str | None


def leader_nodes(node: Node, listener: str, leader_ids: Iterable[int]) -> Iterator[LeaderNode]:
    """Each once, as clients of this listener reach them."""
    for leader_id in sorted(set(leader_ids) - {NO_LEADER}):
        broker = node.image.brokers.get(leader_id)
        endpoint = None if broker is None else broker.endpoint(listener)
        if broker is not None and endpoint is not None:
            yield LeaderNode(leader_id, endpoint.host, endpoint.port, broker.rack)
