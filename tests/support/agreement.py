"""Brokers learn of a change from their controller, one a moment before the other. Whoever asks one of them
and then another waits here until all of them know the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from tests.support.waiting import eventually

from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.testing import Cluster
from barnabas.wire import Connection, WireError
from barnabas.wire.address import Address, parse_bootstrap

Row: TypeAlias = tuple[str, int, int, int, tuple[int, ...], tuple[int, ...]]
View: TypeAlias = tuple[int, frozenset[int], frozenset[Row]]


def settle(cluster: Cluster, broker_ids: Iterable[int] | None = None) -> None:
    """Until all that run say the same: the controller, which knows first, is among them. With `broker_ids`
    until these are the brokers."""
    wanted = None if broker_ids is None else frozenset(broker_ids)
    alive = [broker for broker in cluster.brokers if broker.is_running()]
    eventually(lambda: _agree([Address(broker.host, broker.port) for broker in alive], wanted))


def settle_at(bootstrap: str) -> None:
    eventually(lambda: _agree(parse_bootstrap(bootstrap), None))


def _agree(addresses: Iterable[Address], wanted: frozenset[int] | None) -> bool:
    try:
        views = {_view(address) for address in addresses}
    except WireError:
        return False
    return len(views) == 1 and all(
        controller in brokers and wanted in {None, brokers} for controller, brokers, _ in views
    )


def _view(address: Address) -> View:
    with Connection.open(address) as connection:
        answer = connection.call(MetadataRequest(topics=None), MetadataResponse)
    rows = {
        (
            topic.name or "",
            row.partition_index,
            row.leader_id,
            row.leader_epoch,
            tuple(row.replica_nodes),
            tuple(sorted(row.isr_nodes)),
        )
        for topic in answer.topics
        for row in topic.partitions
    }
    return answer.controller_id, frozenset(broker.node_id for broker in answer.brokers), frozenset(rows)
