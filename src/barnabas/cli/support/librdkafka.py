"""librdkafka's clients with Kafka's properties, defaults and names of errors."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from barnabas.cli.support.resolving import resolves
from barnabas.client.config import translate
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.wire import SettingsError

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

C = TypeVar("C")

_TRANSACTION_TIMEOUT_MS = 60_000

ERRORS = "org.apache.kafka.common.errors."
_CONFIG_EXCEPTION = "org.apache.kafka.common.config.ConfigException"

# What never reached a broker, by librdkafka's name.
_LOCAL_EXCEPTIONS = {
    "_MSG_TIMED_OUT": "TimeoutException",
    "_TIMED_OUT": "TimeoutException",
    "_TRANSPORT": "DisconnectException",
}
_NAMES = {int(row): row for row in ErrorCode}
_UNKNOWN_PROPERTY = re.compile(r'No such configuration property: "([^"]+)"')


class ConfigError(Exception):
    """The client cannot be built; the sentence is Kafka's."""

    def told(self, client: str) -> str:  # noqa: ARG002  # of a single setting Kafka says it plainly
        return f"{_CONFIG_EXCEPTION}: {self}"


class ConstructionError(ConfigError):
    """What Kafka finds while a client (a "producer", a "consumer") is being put together: it wraps that."""

    def told(self, client: str) -> str:
        failed = f"org.apache.kafka.common.KafkaException: Failed to construct kafka {client}"
        return f"{failed}\nCaused by: {_CONFIG_EXCEPTION}: {self}"


def exception_name(error: KafkaError) -> str:
    """The Java class that stands for this error."""
    row = _NAMES.get(error.code())
    if row is not None:
        from barnabas.cli.support.failures import java_name  # brings the wire client along

        return java_name(ApiError(row))
    return ERRORS + _LOCAL_EXCEPTIONS.get(str(error.name()), "KafkaException")


def sentence(error: KafkaError) -> str:
    row = _NAMES.get(error.code())
    return row.sentence if row is not None else str(error.str())


def check_resolvable(bootstrap_servers: str) -> None:
    """Kafka's clients refuse to start when no bootstrap name resolves; librdkafka would try for ever."""
    for server in bootstrap_servers.split(","):
        host, _, port = server.strip().rpartition(":")
        if not host or not port.isdigit():
            raise ConstructionError(f"Invalid url in bootstrap.servers: {server}")
        if resolves(server, host.rpartition("://")[2].strip("[]"), int(port)):
            return
    raise ConstructionError("No resolvable bootstrap urls given in bootstrap.servers")


# Kafka's defaults where librdkafka's differ: exactly one copy of each record, keys where Java puts them.
PRODUCER_DEFAULTS: Mapping[str, object] = {
    "enable.idempotence": True,
    "partitioner": "murmur2_random",
    "delivery.timeout.ms": 120_000,
}
CONSUMER_DEFAULTS: Mapping[str, object] = {
    "allow.auto.create.topics": True,
    # librdkafka would rest for a second whenever its queue is full.
    "fetch.queue.backoff.ms": 20,
}


def build(
    factory: Callable[..., C],
    defaults: Mapping[str, object],
    properties: Mapping[str, object],
    **arguments: Any,
) -> C:
    """A librdkafka client from Kafka's properties. Kafka ignores names it does not know, so these do too."""
    import confluent_kafka

    quiet = logging.getLogger("barnabas.cli.librdkafka")
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    try:
        config = _in_time({**defaults, **translate(properties), **arguments})
    except SettingsError as error:
        raise ConfigError(str(error)) from None
    while True:
        try:
            return factory(config, logger=quiet)
        except confluent_kafka.KafkaException as problem:
            text = str(problem.args[0].str())
            unknown = _UNKNOWN_PROPERTY.search(text)
            if unknown is None or unknown[1] not in config:
                raise ConfigError(text) from None
            del config[unknown[1]]


def _in_time(config: dict[str, Any]) -> dict[str, Any]:
    """Kafka lets a record outlive its transaction, librdkafka refuses to: there it ends with it."""
    if config.get("transactional.id"):
        allowed_ms = int(config.get("transaction.timeout.ms", _TRANSACTION_TIMEOUT_MS))
        for name in ("delivery.timeout.ms", "message.timeout.ms"):
            if name in config:
                config[name] = min(int(config[name]), allowed_ms)
    return config


def print_metrics(role: str, client_id: str, statistics: Mapping[str, object]) -> None:
    """Kafka's table of a client's metrics; the numbers are librdkafka's."""
    rows = {
        f"{role}-metrics:{name.replace('_', '-')}:{{client-id={client_id}}}": value
        for name, value in sorted(statistics.items())
        if isinstance(value, int | float)
    }
    width = max((len(name) for name in rows), default=0)
    print(f"\n{'Metric Name':<{width}}   Value")
    for name, value in rows.items():
        print(f"{name:<{width}} : {value:.3f}")
