"""Rules about nothing: no authorizer runs here, but what no client can mean is no request either."""

from __future__ import annotations

from barnabas.broker.session import PeerFaultError

_UNKNOWN = 0  # what a client writes for a kind that it has no name for, in each of the enumerations


def refuse_unknown(kind: str, *values: int) -> None:
    """Kafka cannot read such a request, and closes the connection."""
    if _UNKNOWN in values:
        raise PeerFaultError(f"{kind} contains UNKNOWN elements")
