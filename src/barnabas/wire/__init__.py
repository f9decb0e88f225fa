"""A thin blocking client over `protocol/` that speaks every API. Cheap to import: no librdkafka here."""

from barnabas.wire.cluster import ANY, CONTROLLER, Cluster
from barnabas.wire.codes import check
from barnabas.wire.connection import Connection
from barnabas.wire.errors import (
    DeadlineError,
    InvalidValueError,
    NetworkError,
    NotAvailableError,
    PeerError,
    SettingsError,
    TimedOutError,
    TlsError,
    VersionError,
    WireError,
)
from barnabas.wire.settings import Settings

__all__ = [
    "ANY",
    "CONTROLLER",
    "Cluster",
    "Connection",
    "DeadlineError",
    "InvalidValueError",
    "NetworkError",
    "NotAvailableError",
    "PeerError",
    "Settings",
    "SettingsError",
    "TimedOutError",
    "TlsError",
    "VersionError",
    "WireError",
    "check",
]
