"""From `--bootstrap-server` and `--command-config` to a cluster; and the names a topic pattern stands for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from barnabas.cli.support.failures import NoFileError, ToolError
from barnabas.cli.support.log_lines import NETWORK_CLIENT, log
from barnabas.cli.support.options import Option, Options
from barnabas.cli.support.properties import load_properties
from barnabas.cli.support.resolving import resolves
from barnabas.model.ids import INTERNAL_TOPICS
from barnabas.model.properties import PropertiesError
from barnabas.wire import Cluster, SettingsError
from barnabas.wire.address import parse_bootstrap
from barnabas.wire.settings import DEFAULTS

BOOTSTRAP = Option(
    "bootstrap-server", "REQUIRED: the broker or brokers to connect to.", "String: server to connect to"
)
NO_ZOOKEEPER = "Kafka's tools no longer ask ZooKeeper; name a broker: --bootstrap-server host:9092"
COMMAND_CONFIG = Option(
    "command-config",
    "A properties file with settings for the connection.",
    "String: command config property file",
)


def properties_of(options: Options, name: str = "command-config") -> dict[str, str]:
    path = options.value(name)
    return {} if path is None else properties_at(path)


def properties_at(path: str) -> dict[str, str]:
    try:
        return load_properties(path)
    except FileNotFoundError:
        raise NoFileError(path) from None
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None
    except PropertiesError as error:
        raise SettingsError(f"{path}: {error}") from None


def connect(
    options: Options,
    bootstrap: str = "bootstrap-server",
    *,
    defaults: Mapping[str, str] | None = None,
    overrides: Mapping[str, str] | None = None,
) -> Cluster:
    """`defaults` are what a tool wants unless the file says otherwise, `overrides` whatever the file says."""
    given = dict(defaults or {}) | properties_of(options) | dict(overrides or {})
    return connect_to(options.text(bootstrap), given)


def connect_to(servers: str, properties: Mapping[str, str]) -> Cluster:
    """A cluster whose troubles are warnings in the words of Kafka's admin client."""
    who = f"[AdminClient clientId={properties.get('client.id', DEFAULTS.client_id)}]"

    def warn(message: str) -> None:
        log("WARN", f"{who} {message}", NETWORK_CLIENT)

    cluster = Cluster.connect(servers, properties, warn)
    for address in parse_bootstrap(servers):
        resolves(str(address), address.host, address.port)
    return cluster


def matching(names: Iterable[str], pattern: str | None, exclude_internal: bool) -> list[str]:
    """Kafka's topic patterns: commas separate alternatives, blanks and quotes around do not count."""
    expression = None if pattern is None else _compiled(pattern)
    return [
        name
        for name in names
        if (expression is None or expression.fullmatch(name))
        and not (exclude_internal and name in INTERNAL_TOPICS)
    ]


def _compiled(pattern: str) -> re.Pattern[str]:
    cleaned = re.sub(r"^[\"']+|[\"']+$", "", pattern.strip().replace(",", "|").replace(" ", ""))
    try:
        return re.compile(cleaned)
    except re.error:
        raise ToolError(f"{cleaned} is an invalid regex.", "java.lang.RuntimeException") from None
