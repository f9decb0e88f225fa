"""The Python API: Producer and Consumer over librdkafka, Admin over our own wire client.

A name is loaded when it is first used: a program that only produces does not pay for administration.
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from barnabas.client.admin import Admin, Offsets, Partition, Topic
    from barnabas.client.consumer import Consumer
    from barnabas.client.errors import (
        ClientError,
        ConsumeError,
        DeliveryError,
        Failure,
        FencedError,
        TransactionError,
    )
    from barnabas.client.producer import Delivery, Producer, RecordMetadata
    from barnabas.client.record import Record
    from barnabas.client.serialise import from_json, text, to_json

__all__ = [
    "Admin",
    "ClientError",
    "ConsumeError",
    "Consumer",
    "Delivery",
    "DeliveryError",
    "Failure",
    "FencedError",
    "Offsets",
    "Partition",
    "Producer",
    "Record",
    "RecordMetadata",
    "Topic",
    "TransactionError",
    "from_json",
    "text",
    "to_json",
]

_HOMES = {
    "admin": ("Admin", "Offsets", "Partition", "Topic"),
    "consumer": ("Consumer",),
    "errors": ("ClientError", "ConsumeError", "DeliveryError", "Failure", "FencedError", "TransactionError"),
    "producer": ("Delivery", "Producer", "RecordMetadata"),
    "record": ("Record",),
    "serialise": ("from_json", "text", "to_json"),
}
_MODULES = {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names}

# librdkafka's log lines go to this logger; nothing is printed unless the program asks for it.
logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
