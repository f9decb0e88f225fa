"""Asking the brokers of a local cluster what they know of it."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.runtime.cluster_plan import HOST
from barnabas.wire import Connection, Settings, WireError
from barnabas.wire.address import Address

_PATIENCE = Settings.from_properties(
    {"request.timeout.ms": "3000", "socket.connection.setup.timeout.ms": "1000", "client.id": "barnabas"}
)


def ask_metadata(port: int, *, all_topics: bool = False) -> MetadataResponse | None:
    """What a broker knows of its cluster; None where nobody answers."""
    try:
        with Connection.open(Address(HOST, port), _PATIENCE) as connection:
            return connection.call(MetadataRequest(topics=None if all_topics else []), MetadataResponse)
    except WireError:
        return None


def find_controller(ports: Iterable[int]) -> int | None:
    """Whom the first that knows one calls the controller."""
    for port in ports:
        answer = ask_metadata(port)
        if answer is not None and answer.controller_id >= 0:
            return answer.controller_id
    return None
