"""What we serve: one row per API. ApiVersions, the dispatcher and the docs read this table.

`tests/golden/api_versions.txt` holds what an Apache Kafka 4.3 broker advertises; every row here equals
Kafka's. The handler of an API is the module of the same name in `broker/handlers/`.

`AMONG_BROKERS` holds what only brokers ask of each other, on the inter-broker listener: not advertised, as
Kafka advertises nothing of it on a broker's listener.
"""

from __future__ import annotations

from typing import NamedTuple

from barnabas.protocol.messages import APIS
from barnabas.protocol.private import (
    ALLOCATE_PRODUCER_IDS,
    CONTROLLED_SHUTDOWN,
    FORWARD,
    PRIVATE_APIS,
    PULL_IMAGE,
    REPLICAS_OFFLINE,
    VERSION,
)

PRODUCE = 0
FETCH = 1
API_VERSIONS = 18
ALTER_PARTITION = 56


class Served(NamedTuple):
    key: int
    name: str
    module: str
    oldest: int
    newest: int
    advertised_oldest: int


# Above the newest version that Kafka 4.3 calls stable.
_UNSTABLE_FROM = {22: 6}
# Advertised from 0 and then refused: older librdkafka stops compressing when it sees no Produce v0.
_ADVERTISED_OLDEST = {PRODUCE: 0}

_KEYS = (
    PRODUCE, FETCH, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, API_VERSIONS, 19, 20, 21, 22, 23, 24, 25, 26,
    27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 50, 60, 61, 64,
    65, 66, 68, 69, 74, 75,
)  # fmt: skip


def _row(key: int) -> Served:
    api = APIS[key]
    newest = _UNSTABLE_FROM.get(key, api.newest + 1) - 1
    return Served(key, api.name, api.module, api.oldest, newest, _ADVERTISED_OLDEST.get(key, api.oldest))


SERVED: dict[int, Served] = {key: _row(key) for key in _KEYS}


_PRIVATE_HANDLERS = {
    FORWARD: "forward",
    PULL_IMAGE: "pull_image",
    CONTROLLED_SHUTDOWN: "controlled_shutdown",
    ALLOCATE_PRODUCER_IDS: "allocate_producer_ids",
    REPLICAS_OFFLINE: "replicas_offline",
}

AMONG_BROKERS: dict[int, Served] = {
    ALTER_PARTITION: _row(ALTER_PARTITION),
    **{
        key: Served(key, PRIVATE_APIS[key].name, module, VERSION, VERSION, VERSION)
        for key, module in _PRIVATE_HANDLERS.items()
    },
}

# Only the controller can answer these: whoever else is asked forwards them (KIP-590).
FOR_THE_CONTROLLER = frozenset({19, 20, 33, 37, 43, 44, 45, 46, 64})
# Of these, parts concern the broker that was asked: its handlers forward the rest themselves.
PARTLY_HERE = frozenset({33, 44})
