"""kafka-configs: print and change settings, with the lines of Kafka 4.3's ConfigCommand.

What the tool itself finds wrong is one line on stderr; what the broker refuses follows "Error while executing
config command with args '…'". Both leave with 1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence

from barnabas.cli.parts import configs_options, configs_quotas
from barnabas.cli.parts.configs_options import Entity
from barnabas.cli.support.connecting import connect, properties_of
from barnabas.cli.support.failures import NoFileError, ToolError, java_name, sentence
from barnabas.cli.support.options import Options
from barnabas.cli.support.running import run
from barnabas.model.config_numbers import Operation, ResourceType, Source
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.describe_configs import DescribeConfigsResourceResult
from barnabas.wire import Cluster, InvalidValueError, SettingsError, WireError
from barnabas.wire.admin import brokers, configs, groups, topics
from barnabas.wire.admin.configs import Change, Resource

_RESOURCES = {
    "topics": (ResourceType.TOPIC, Source.DYNAMIC_TOPIC_CONFIG),
    "brokers": (ResourceType.BROKER, Source.DYNAMIC_BROKER_CONFIG),
    "broker-loggers": (ResourceType.BROKER_LOGGER, None),
    "client-metrics": (ResourceType.CLIENT_METRICS, Source.DYNAMIC_CLIENT_METRICS_CONFIG),
    "groups": (ResourceType.GROUP, Source.DYNAMIC_GROUP_CONFIG),
}
# A comma or an equals sign outside of square brackets.
_OUTSIDE = r"(?=[^\]]*(?:\[|$))"


def main(arguments: Sequence[str] | None = None) -> int:
    return run(configs_tool, arguments)


def configs_tool(arguments: Sequence[str]) -> int:
    try:
        options, entity = configs_options.parse(arguments)
        server = "bootstrap-server" if options.has("bootstrap-server") else "bootstrap-controller"
        with connect(options, server) as cluster:
            if options.has("describe"):
                _describe(cluster, entity, options.has("all"))
            else:
                _alter(cluster, entity, options)
    except (NoFileError, ApiError, WireError) as error:
        call = "describeConfigs" if "--describe" in arguments else "incrementalAlterConfigs"
        print(f"Error while executing config command with args '{' '.join(arguments)}'", file=sys.stderr)
        print(_cause(error, call), file=sys.stderr)
        return 1
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _cause(error: Exception, call: str) -> str:
    if isinstance(error, (NoFileError, InvalidValueError)):
        return f"{java_name(error)}: {error}"
    if isinstance(error, SettingsError):
        return f"org.apache.kafka.common.KafkaException: {sentence(error, call)}"
    return f"java.util.concurrent.ExecutionException: {java_name(error)}: {sentence(error, call)}"


def _describe(cluster: Cluster, entity: Entity, show_all: bool) -> None:
    if entity.type not in _RESOURCES:
        configs_quotas.describe(cluster, entity)
        return
    known = _known_names[entity.type](cluster)
    if entity.name is None:
        names = [*known, ""] if entity.type == "brokers" else known
    elif entity.name and entity.name not in known:
        print(f"The {entity.singular} '{entity.name}' doesn't exist and doesn't have dynamic config.")
        return
    else:
        names = [entity.name]
    for name in names:
        _describe_one(cluster, entity, name, show_all)


def _describe_one(cluster: Cluster, entity: Entity, name: str, show_all: bool) -> None:
    if name:
        print(f"{'All' if show_all else 'Dynamic'} configs for {entity.singular} {name} are:")
    else:
        print(f"Default configs for {entity.type} in the cluster are:")
    kind, source = _RESOURCES[entity.type]
    if entity.type == "brokers" and not name:
        source = Source.DYNAMIC_DEFAULT_BROKER_CONFIG
    found = configs.describe(cluster, Resource(kind, name), include_synonyms=True)
    for row in sorted(found, key=lambda row: row.name):
        if show_all or source is None or row.config_source == source:
            print(setting_line(row))


def setting_line(row: DescribeConfigsResourceResult) -> str:
    synonyms = ", ".join(
        f"{Source.name_of(synonym.source)}:{synonym.name}={_text(synonym.value)}" for synonym in row.synonyms
    )
    sensitive = str(row.is_sensitive).lower()
    return f"  {row.name}={_text(row.value)} sensitive={sensitive} synonyms={{{synonyms}}}"


def _text(value: str | None) -> str:
    return "null" if value is None else value


def _broker_ids(cluster: Cluster) -> list[str]:
    return [str(broker.broker_id) for broker in brokers.describe_cluster(cluster).brokers]


def _client_metrics(cluster: Cluster) -> list[str]:
    return [row.resource_name for row in configs.resources(cluster, [ResourceType.CLIENT_METRICS])]


def _groups(cluster: Cluster) -> list[str]:
    """Groups that live and groups that are only configured."""
    configured = [row.resource_name for row in configs.resources(cluster, [ResourceType.GROUP])]
    try:
        living = [row.group_id for row in groups.list_groups(cluster)]
    except ApiError as error:
        # A broker without a coordinator has no living groups; those that are configured can still be shown.
        if error.code != ErrorCode.COORDINATOR_NOT_AVAILABLE:
            raise
        living = []
    return sorted({*configured, *living})


_known_names: Mapping[str, Callable[[Cluster], list[str]]] = {
    "topics": topics.names,
    "brokers": _broker_ids,
    "broker-loggers": _broker_ids,
    "client-metrics": _client_metrics,
    "groups": _groups,
}


def _alter(cluster: Cluster, entity: Entity, options: Options) -> None:
    added = parse_added(options)
    deleted = [name.strip() for name in options.values("delete-config")]
    if entity.type not in _RESOURCES:
        configs_quotas.alter(cluster, entity, added, deleted)
    else:
        resource = Resource(_RESOURCES[entity.type][0], entity.names[0])
        if entity.type == "broker-loggers":
            _check_loggers(cluster, resource, [*deleted, *added])
        changes = [Change(name, value) for name, value in added.items()]
        changes += [Change(name, "", Operation.DELETE) for name in deleted]
        configs.alter(cluster, resource, changes)
    if entity.names[0]:
        print(f"Completed updating config for {entity.singular} {entity.names[0]}.")
    else:
        print(f"Completed updating default config for {entity.type} in the cluster.")


def _check_loggers(cluster: Cluster, resource: Resource, names: Sequence[str]) -> None:
    known = {row.name for row in configs.describe(cluster, resource)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ToolError(f"Invalid broker logger(s): {','.join(unknown)}")


def parse_added(options: Options) -> dict[str, str]:
    """What --add-config and --add-config-file say. Brackets group and are not part of a value."""
    added = properties_of(options, "add-config-file")
    text = options.value("add-config")
    # Java forgets empty pieces at the end, but not a text that is nothing else.
    pairs = re.split("," + _OUTSIDE, text) if text is not None else []
    while len(pairs) > 1 and not pairs[-1]:
        pairs.pop()
    for pair in pairs:
        parts = re.split(r"\s*=\s*" + _OUTSIDE, pair)
        if len(parts) != 2:
            raise ToolError(
                "requirement failed: Invalid entity config: all configs to be added must be in the format "
                '"key=val" or  "key=[val1,val2]" to group values which contain commas.'
            )
        added[parts[0].strip()] = re.sub(r"[\[\]]", "", parts[1]).strip()
    for name in added:
        if not re.fullmatch(r"[a-zA-Z0-9._-]*", name):
            raise ToolError(f"Invalid character found for config key: {name}")
    return added
