"""The options of kafka-configs, which entity they name, and the checks between them in Kafka's order."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass

from barnabas.cli.support.connecting import COMMAND_CONFIG, NO_ZOOKEEPER
from barnabas.cli.support.failures import ToolError
from barnabas.cli.support.legacy_zookeeper import found_in_zookeeper
from barnabas.cli.support.options import Option, Options, Parser

TYPES = ("topics", "clients", "users", "brokers", "ips", "client-metrics", "groups", "broker-loggers")
# A flag of its own for each type, and for the default of some.
FLAGS = {
    "topic": "topics",
    "client": "clients",
    "user": "users",
    "broker": "brokers",
    "broker-logger": "broker-loggers",
    "ip": "ips",
    "client-metrics": "client-metrics",
    "group": "groups",
}
DEFAULT_FLAGS = {
    "client-defaults": "clients",
    "user-defaults": "users",
    "broker-defaults": "brokers",
    "ip-defaults": "ips",
}
_WITH_DEFAULT = {"users", "clients", "brokers", "ips"}

OPTIONS = (
    Option("bootstrap-server", "The broker or brokers to connect to.", "String: server to connect to"),
    Option(
        "bootstrap-controller",
        "The controllers to connect to; here every broker forwards to the controller.",
        "String: controller to connect to",
    ),
    COMMAND_CONFIG,
    Option("alter", "Change settings of the entity."),
    Option("describe", "Print settings of the entity."),
    Option("all", "Print all settings, not only those set at run time."),
    Option("entity-type", f"What to configure: {'/'.join(TYPES)}.", "String"),
    Option(
        "entity-name",
        "Its name: of the topic, client, user or group, the broker's id, the address.",
        "String",
    ),
    Option("entity-default", "Instead of a name: the default of all clients, users, brokers or addresses."),
    Option(
        "add-config",
        "Settings to set: 'k1=v1,k2=[v1,v2],k3=v3'. Square brackets hold values with commas in them. Users "
        "and clients may be named together, for the clients of one user.",
        "String",
    ),
    Option("add-config-file", "A properties file with settings to set.", "String"),
    Option(
        "delete-config",
        "Settings to take back: 'k1,k2'.",
        "String",
        separator=",",
        aliases=("deleteConfig",),
    ),
    Option("force", "Do not ask."),
    Option("topic", "A topic's name.", "String"),
    Option("client", "A client's id.", "String"),
    Option("client-defaults", "The default of all clients."),
    Option("user", "A user's principal name.", "String"),
    Option("user-defaults", "The default of all users."),
    Option("broker", "A broker's id.", "String"),
    Option("broker-defaults", "The default of all brokers."),
    Option("broker-logger", "The id of the broker whose loggers are meant.", "String"),
    Option("ip", "An address.", "String"),
    Option("ip-defaults", "The default of all addresses."),
    Option("group", "A group's id.", "String"),
    Option("client-metrics", "The name of a subscription to clients' metrics.", "String"),
)
PARSER = Parser(
    "This tool helps to manipulate and describe entity config for a topic, client, user, broker, ip, "
    "client-metrics or group",
    OPTIONS,
    gone={"zookeeper": NO_ZOOKEEPER},
)


@dataclass(frozen=True, slots=True)
class Entity:
    """Types and names side by side; an empty name is the default. Only users and clients come in pairs."""

    types: list[str]
    names: list[str]

    @property
    def type(self) -> str:
        return self.types[0]

    @property
    def name(self) -> str | None:
        return self.names[0] if self.names else None

    @property
    def singular(self) -> str:
        return self.type[:-1]


def entity_of(options: Options) -> Entity:
    types = options.values("entity-type")[:]
    types += [kind for flag, kind in (FLAGS | DEFAULT_FLAGS).items() if options.has(flag)]
    typed = iter(options.values("entity-name"))
    names = [
        next(typed) if name == "entity-name" else ""
        for name in options.order
        if name in {"entity-name", "entity-default"}
    ]
    names += [options.text(flag) for flag in FLAGS if options.has(flag)]
    names += ["" for flag in DEFAULT_FLAGS if options.has(flag)]
    return Entity(types, names)


def parse(arguments: Sequence[str]) -> tuple[Options, Entity]:
    options = PARSER.parse(found_in_zookeeper(arguments))
    if options.has("alter") == options.has("describe"):
        raise options.wrong("Command must include exactly one action: --describe, --alter")
    options.forbid("describe", "add-config", "delete-config")
    entity = entity_of(options)
    _check_types(options, entity)
    _check_bootstrap(options)
    _check_names(entity)
    if options.has("describe"):
        _check_describe(options, entity)
    else:
        _check_alter(options, entity)
    return options, entity


def _check_types(options: Options, entity: Entity) -> None:
    repeated = [kind for index, kind in enumerate(entity.types) if kind in entity.types[:index]]
    if repeated:
        raise ToolError(f"Duplicate entity type(s) specified: {','.join(repeated)}")
    for kind in entity.types:
        if kind not in TYPES:
            raise ToolError(
                f"Invalid entity type {kind}, the entity type must be one of {', '.join(TYPES)} with a "
                "--bootstrap-server or --bootstrap-controller argument"
            )
    if not entity.types:
        raise ToolError("At least one entity type must be specified")
    if len(entity.types) > 1 and set(entity.types) != {"users", "clients"}:
        raise ToolError("Only 'users' and 'clients' entity types may be specified together")
    general = any(options.has(name) for name in ("entity-name", "entity-type", "entity-default"))
    if general and any(options.has(flag) for flag in FLAGS | DEFAULT_FLAGS):
        raise ToolError(
            "--entity-{type,name,default} should not be used in conjunction with specific entity flags"
        )


def _check_bootstrap(options: Options) -> None:
    given = sum(options.has(name) for name in ("bootstrap-server", "bootstrap-controller"))
    if given == 0:
        raise ToolError("Either --bootstrap-server or --bootstrap-controller must be specified.")
    if given > 1:
        raise ToolError("Only one of --bootstrap-server or --bootstrap-controller can be specified")


def _check_names(entity: Entity) -> None:
    if entity.type == "topics" and entity.name == "":
        raise ToolError("Topic name is invalid: the empty string is not allowed")
    for name in filter(None, entity.names):
        if entity.type in {"brokers", "broker-loggers"} and not _is_integer(name):
            raise ToolError(
                f"The entity name for {entity.type} must be a valid integer broker id, but it is: {name}"
            )
        if entity.type == "ips" and not _resolves(name):
            raise ToolError(
                f"The entity name for {entity.type} must be a valid IP or resolvable host, but it is: {name}"
            )


def _check_describe(options: Options, entity: Entity) -> None:
    listed = ",".join(entity.types)
    if not _WITH_DEFAULT & set(entity.types) and options.has("entity-default"):
        raise ToolError(f"--entity-default must not be specified with --describe of {listed}")
    if "broker-loggers" in entity.types and not any(entity.names):
        raise ToolError(f"An entity name must be specified with --describe of {listed}")


def _check_alter(options: Options, entity: Entity) -> None:
    if _WITH_DEFAULT & set(entity.types):
        if not entity.names:
            raise ToolError(
                "An entity-name or default entity must be specified with --alter of users, clients, "
                "brokers or ips"
            )
    elif not any(entity.names):
        raise ToolError(f"An entity name must be specified with --alter of {','.join(entity.types)}")
    if options.has("add-config") and options.has("add-config-file"):
        raise ToolError("Only one of --add-config or --add-config-file must be specified")
    if not any(options.has(name) for name in ("add-config", "add-config-file", "delete-config")):
        raise ToolError(
            "At least one of --add-config, --add-config-file, or --delete-config must be specified with "
            "--alter"
        )
    if len(entity.types) != len(entity.names):
        raise ToolError("An entity name must be specified for every entity type")


def _is_integer(text: str) -> bool:
    try:
        int(text)
    except ValueError:
        return False
    return True


def _resolves(name: str) -> bool:
    try:
        socket.getaddrinfo(name, None)
    except OSError:
        return False
    return True
