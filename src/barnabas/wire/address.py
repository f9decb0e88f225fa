"""Where a broker is, read from what people type: `host:port`, `[::1]:9092`, comma separated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from barnabas.wire.errors import SettingsError

_HOST_PORT = re.compile(r"^(?:[A-Za-z_]+://)?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)$")


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_bootstrap(text: str) -> Sequence[Address]:
    """The list of `--bootstrap-server`; what is wrong with it is said in Kafka's words."""
    addresses = [_parse(part.strip()) for part in text.split(",") if part.strip()]
    if not addresses:
        raise SettingsError("No resolvable bootstrap urls given in bootstrap.servers")
    return addresses


def _parse(text: str) -> Address:
    found = _HOST_PORT.match(text)
    if found is None:
        raise SettingsError(f"Invalid url in bootstrap.servers: {text}")
    return Address(found[1], int(found[2]))
