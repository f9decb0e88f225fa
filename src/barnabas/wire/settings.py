"""The client settings this package obeys: Kafka's names, Kafka's defaults, one row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from barnabas.wire.errors import InvalidValueError
from barnabas.wire.security_settings import (
    SaslSettings,
    TlsSettings,
    protocol_of,
    sasl_settings,
    tls_settings,
)


@dataclass(frozen=True, slots=True)
class Settings:
    """A field is the Kafka setting with dots for underscores."""

    client_id: str = "adminclient-1"
    security_protocol: str = "PLAINTEXT"
    request_timeout_ms: int = 30_000
    default_api_timeout_ms: int = 60_000
    socket_connection_setup_timeout_ms: int = 10_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    tls: TlsSettings | None = None
    sasl: SaslSettings | None = None

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Settings:
        """Settings we do not know are left to others, as Kafka's clients do."""
        protocol = protocol_of(properties)
        values: dict[str, object] = {}
        for field in fields(cls):
            text = properties.get(field.name.replace("_", "."))
            if text is not None:
                values[field.name] = _number(field.name, text) if field.name.endswith("_ms") else text
        values["security_protocol"] = protocol
        if protocol.endswith("SSL"):
            values["tls"] = tls_settings(properties)
        if protocol.startswith("SASL"):
            values["sasl"] = sasl_settings(properties)
        return cls(**values)  # type: ignore[arg-type]


def _number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        key = name.replace("_", ".")
        raise InvalidValueError(
            f"Invalid value {text} for configuration {key}: Not a number of type INT"
        ) from None


DEFAULTS = Settings()
