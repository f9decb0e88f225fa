"""What the tools that produce and consume share: log lines in Kafka's shape, properties, librdkafka clients.

Kafka's tools log to standard error; so do these, in the same words, so that runbooks and people's eyes find
what they expect.
"""

from __future__ import annotations

import logging
import re
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from barnabas.cli.options import OptionError, Options, Parser, UsageError
from barnabas.cli.properties import load_properties, parse_pairs
from barnabas.client.config import translate
from barnabas.model.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

C = TypeVar("C")

NETWORK_CLIENT = "org.apache.kafka.clients.NetworkClient"
ERRORS = "org.apache.kafka.common.errors."

# What never reached a broker, by librdkafka's name.
_LOCAL_EXCEPTIONS = {
    "_MSG_TIMED_OUT": "TimeoutException",
    "_TIMED_OUT": "TimeoutException",
    "_TRANSPORT": "DisconnectException",
}
_WARNING_INTERVAL_SECONDS = 0.1
_NAMES = {int(row): row for row in ErrorCode}
_FAILED_CONNECTION = re.compile(r"(?P<name>\S+)/(?P<node>\w+): Connect to ipv[46]#(?P<address>\S+) failed")
_BOOTSTRAP_NODE = re.compile(
    r"Connection to node (?P<node>-\d+) \((?P<host>[^/]*)/(?P<address>.*):(?P<port>\d+)\)"
)
_UNKNOWN_PROPERTY = re.compile(r'No such configuration property: "([^"]+)"')


class ConfigError(Exception):
    """The client cannot be built; the sentence is Kafka's."""


# --- lines -------------------------------------------------------------------------------------------------


def log(level: str, message: str, source: str) -> None:
    now = datetime.now().isoformat(" ", "milliseconds").replace(".", ",")
    print(f"[{now}] {level} {message} ({source})", file=sys.stderr, flush=True)


def exception_name(error: KafkaError) -> str:
    """The Java class that stands for this error."""
    row = _NAMES.get(error.code())
    if row is not None:
        from barnabas.cli.failures import java_name  # brings the wire client along

        return java_name(ApiError(row))
    return ERRORS + _LOCAL_EXCEPTIONS.get(str(error.name()), "KafkaException")


def sentence(error: KafkaError) -> str:
    row = _NAMES.get(error.code())
    return row.sentence if row is not None else str(error.str())


class ConnectionWarnings:
    """A broker that does not answer is two lines, as in Kafka. Both clients report every attempt, librdkafka
    several at once: one pair per moment is enough."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._last = float("-inf")

    def librdkafka(self, error: KafkaError) -> None:
        """For its `error_cb`."""
        found = _FAILED_CONNECTION.search(str(error.str()))
        if found is not None:
            host = found["name"].rpartition(":")[0]
            shown = "" if host in found["address"] else host
            node = "-1" if found["node"] == "bootstrap" else found["node"]
            self._print(
                f"Connection to node {node} ({shown}/{found['address']}) could not be established. "
                "Node may not be available."
            )

    def wire(self, error: Exception) -> None:
        self._print(str(error))

    def _print(self, sentence: str) -> None:
        if time.monotonic() - self._last < _WARNING_INTERVAL_SECONDS:
            return
        self._last = time.monotonic()
        log("WARN", f"[{self._who}] {sentence}", NETWORK_CLIENT)
        found = _BOOTSTRAP_NODE.match(sentence)
        if found is not None:
            broker = f"{found['host'] or found['address']}:{found['port']}"
            identity = f"(id: {found['node']} rack: null isFenced: false)"
            log("WARN", f"[{self._who}] Bootstrap broker {broker} {identity} disconnected", NETWORK_CLIENT)


# --- command lines -----------------------------------------------------------------------------------------


def parse(parser: Parser, arguments: Sequence[str]) -> Options:
    """These tools follow a line they cannot read with the usage; what was probably meant comes in between."""
    try:
        return parser.parse(arguments)
    except OptionError as error:
        message = str(error) if error.hint is None else f"{error}\n{error.hint}"
        raise UsageError(message, parser.usage()) from None


def one_of(options: Options, new: str, old: str, word: str = "Warning:") -> str:
    """Which spelling of the two was used; the old one is still heard, and answered with the new one.

    Kafka says so on standard output, in the middle of the records. Ours goes to standard error."""
    if not options.has(old):
        return new
    print(
        f"{word} --{old} is deprecated and will be removed in a future version. Use --{new} instead.",
        file=sys.stderr,
    )
    return old


def properties_of(options: Options, file_option: str, pairs_option: str) -> dict[str, str]:
    """A properties file, and what the command line says over it."""
    path = options.value(file_option)
    return properties_file(path) | parse_pairs(options.values(pairs_option))


def properties_file(path: str | None) -> dict[str, str]:
    if path is None:
        return {}
    try:
        return load_properties(path)
    except FileNotFoundError:
        raise OptionError(f"java.nio.file.NoSuchFileException: {path}") from None


# --- clients -----------------------------------------------------------------------------------------------


def check_resolvable(bootstrap_servers: str) -> None:
    """Kafka's clients refuse to start when no bootstrap name resolves; librdkafka would try for ever."""
    for server in bootstrap_servers.split(","):
        host, _, port = server.strip().rpartition(":")
        if not host or not port.isdigit():
            raise ConfigError(f"Invalid url in bootstrap.servers: {server}")
        try:
            socket.getaddrinfo(host.rpartition("://")[2].strip("[]"), int(port), type=socket.SOCK_STREAM)
        except OSError:
            log(
                "WARN",
                f"Couldn't resolve server {server} from bootstrap.servers "
                f"as DNS resolution failed for {host}",
                "org.apache.kafka.clients.ClientUtils",
            )
        else:
            return
    raise ConfigError("No resolvable bootstrap urls given in bootstrap.servers")


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
    config = {**defaults, **translate(properties), **arguments}
    while True:
        try:
            return factory(config, logger=quiet)
        except confluent_kafka.KafkaException as problem:
            text = str(problem.args[0].str())
            unknown = _UNKNOWN_PROPERTY.search(text)
            if unknown is None or unknown[1] not in config:
                raise ConfigError(text) from None
            del config[unknown[1]]


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
