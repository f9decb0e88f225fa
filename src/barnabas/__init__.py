"""Barnabas: a durable commit log that every Kafka client and tool can use, in Python.

    from barnabas import Admin, Consumer, Producer

Importing the package costs nothing: a client is loaded when it is first named.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from barnabas.client import Admin, Consumer, Producer

__all__ = ["Admin", "Consumer", "Producer"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module("barnabas.client"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
