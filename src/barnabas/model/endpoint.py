"""Where a listener is reached, and how one talks to it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class SecurityProtocol(StrEnum):
    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def authenticated(self) -> bool:
        """Whether a SASL exchange comes first."""
        return self in {SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL}


class Endpoint(NamedTuple):
    host: str  # in a broker's settings, empty stands for the default interface
    port: int
    security_protocol: SecurityProtocol
