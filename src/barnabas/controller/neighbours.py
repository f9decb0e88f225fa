"""Whether a broker's listeners go together with those of the brokers that are registered already."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.model.image import BrokerImage


def listener_conflict(own: BrokerImage, others: Iterable[BrokerImage], inter_broker: str) -> str | None:
    """What is wrong, and what clients would see of it."""
    ours = {(endpoint.host, endpoint.port) for endpoint in own.endpoints.values()}
    for other in sorted(others, key=lambda broker: broker.id):
        if other.id == own.id:
            continue
        shared = ours & {(endpoint.host, endpoint.port) for endpoint in other.endpoints.values()}
        if shared:
            host, port = min(shared)
            return (
                f"Configured end points {host}:{port} in advertised listeners are already registered by "
                f"broker {other.id}: clients that look for one of the two would reach the other."
            )
        if inter_broker not in other.endpoints:
            return (
                f"inter.broker.listener.name is {inter_broker}, and broker {other.id} has only "
                f"{', '.join(other.endpoints)}: the two could not replicate, and clients would see "
                "partitions that never have all their replicas in sync."
            )
    return None
