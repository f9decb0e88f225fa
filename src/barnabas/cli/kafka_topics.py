"""kafka-topics: create, list, describe, grow and delete topics, with the lines of Kafka 4.3's TopicCommand.

Failures of the action go to stdout as "Error while executing topic command : …" and, logged, to stderr;
mistakes in the command line go to stderr. Both leave with 1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from barnabas.cli.parts import topics_options
from barnabas.cli.parts.topics_describe import Shown, describe
from barnabas.cli.support.connecting import connect, matching
from barnabas.cli.support.failures import FAILURES, NoFileError, ToolError, log_error, sentence
from barnabas.cli.support.options import OptionError, Options
from barnabas.cli.support.running import run
from barnabas.model.config_numbers import Operation, ResourceType
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import ZERO_UUID, uuid_from_text
from barnabas.wire import Cluster, SettingsError
from barnabas.wire.admin import configs, topics
from barnabas.wire.admin.configs import Change, Resource

SOURCE = "org.apache.kafka.tools.TopicCommand"
COLLISION_WARNING = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could "
    "collide. To avoid issues it is best to use either, but not both."
)

CONFIGS_WARNING = (
    "WARNING: Altering topic configuration from this script has been deprecated and may be removed in future "
    "releases.\n         Going forward, please use kafka-configs.sh for this functionality"
)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(topics_tool, arguments)


def topics_tool(arguments: Sequence[str]) -> int:
    options = topics_options.parse(arguments)
    action = next(name for name in topics_options.ACTIONS if options.has(name))
    try:
        with connect(options) as cluster:
            _ACTIONS[action](cluster, options)
    except (SettingsError, NoFileError) as error:
        print(sentence(error, action), file=sys.stderr)
        return 1
    except (*FAILURES, OptionError) as error:
        call = "createTopics" if action == "create" else "listTopics"
        print(f"Error while executing topic command : {sentence(error, call)}")
        log_error(error, call, SOURCE)
        return 1
    return 0


def _create(cluster: Cluster, options: Options) -> None:
    name = options.text("topic")
    partitions, replication_factor = options.integer("partitions"), options.integer("replication-factor")
    assignment = parse_assignment(options.value("replica-assignment"))
    configs = parse_configs(options.values("config"))
    if "." in name or "_" in name:
        print(COLLISION_WARNING)
    if replication_factor is not None and not 1 <= replication_factor <= 32767:
        raise ToolError("The replication factor must be between 1 and 32767 inclusive")
    if partitions is not None and partitions < 1:
        raise ToolError("The partitions must be greater than 0")
    if not name:
        raise ApiError(
            ErrorCode.INVALID_TOPIC_EXCEPTION, "The given topic name '' cannot be represented in a request."
        )
    try:
        topics.create(
            cluster,
            name,
            topics.BROKER_DECIDES if partitions is None else partitions,
            topics.BROKER_DECIDES if replication_factor is None else replication_factor,
            configs,
            assignment,
        )
    except ApiError as error:
        if error.code == ErrorCode.TOPIC_ALREADY_EXISTS and options.has("if-not-exists"):
            return
        if error.code == ErrorCode.INVALID_CONFIG and str(error).startswith("Invalid value "):
            # Kafka's tool checks values by itself before it asks: the same sentence, another exception.
            raise ToolError(str(error), "org.apache.kafka.common.config.ConfigException") from None
        raise
    print(f"Created topic {name}.")


def _list(cluster: Cluster, options: Options) -> None:
    print("\n".join(_names(cluster, options)))


def _alter(cluster: Cluster, options: Options) -> None:
    if topics_options.has_configs(options):
        _alter_configs(cluster, options)
    total = options.integer("partitions")
    if total is not None:
        _add_partitions(cluster, options, total)


def _alter_configs(cluster: Cluster, options: Options) -> None:
    """Only of those who came with --zookeeper, in the words of that time."""
    print(CONFIGS_WARNING)
    changes = [Change(name, value) for name, value in parse_configs(options.values("config")).items()]
    for deleted in options.values("delete-config"):
        changes.append(Change(deleted.partition("=")[0].strip(), "", Operation.DELETE))
    for name in _existing(cluster, options):
        configs.alter(cluster, Resource(ResourceType.TOPIC, name), changes)
        print(f"Updated config for topic {name}.")


def _add_partitions(cluster: Cluster, options: Options, total: int) -> None:
    assignment = parse_assignment(options.value("replica-assignment"))
    names = _existing(cluster, options)
    if not names:
        return
    added: dict[str, Sequence[Sequence[int]]] = {}
    if assignment:
        for topic in topics.describe(cluster, names):
            added[topic.name or ""] = list(assignment.values())[len(topic.partitions) :]
    topics.add_partitions(cluster, dict.fromkeys(names, total), added or None)


def _describe(cluster: Cluster, options: Options) -> None:
    for line in describe(cluster, _described(cluster, options), Shown.from_options(options)):
        print(line)


def _delete(cluster: Cluster, options: Options) -> None:
    names = _existing(cluster, options)
    if names:
        topics.delete(cluster, names)


_ACTIONS = {"create": _create, "list": _list, "alter": _alter, "describe": _describe, "delete": _delete}


def _names(cluster: Cluster, options: Options) -> list[str]:
    return matching(sorted(topics.names(cluster)), options.value("topic"), options.has("exclude-internal"))


def _existing(cluster: Cluster, options: Options) -> list[str]:
    names = _names(cluster, options)
    topic = options.value("topic")
    if topic and not names and not options.has("if-exists"):
        raise ToolError(f"Topic '{topic}' does not exist as expected")
    return names


def _described(cluster: Cluster, options: Options) -> list[str]:
    """An id that is not zero wins over a name."""
    text = options.value("topic-id")
    topic_id = ZERO_UUID if text is None else _topic_id(text)
    if topic_id == ZERO_UUID:
        return _existing(cluster, options)
    names = [topic.name or "" for topic in cluster.metadata().topics if topic.topic_id == topic_id]
    names = matching(names, None, options.has("exclude-internal"))
    if not names and not options.has("if-exists"):
        raise ToolError(f"TopicId '{text}' does not exist as expected")
    return names


def _topic_id(text: str) -> bytes:
    try:
        return uuid_from_text(text)
    except ValueError as error:
        raise ToolError(str(error)) from None


def parse_assignment(text: str | None) -> dict[int, list[int]]:
    """ "0:1,1:2" → partition → brokers."""
    found: dict[int, list[int]] = {}
    for index, part in enumerate(re.sub(",+$", "", text).split(",") if text else ()):
        brokers = [_broker(word) for word in part.split(":")]
        twice = sorted({broker for broker in brokers if brokers.count(broker) > 1})
        if twice:
            raise ToolError(
                f"Partition replica lists may not contain duplicate entries: {','.join(map(str, twice))}",
                "org.apache.kafka.tools.AdminCommandFailedException",
            )
        found[index] = brokers
        if len(brokers) != len(found[0]):
            raise ToolError(
                f"Partition {index} has different replication factor: {brokers}",
                "org.apache.kafka.tools.AdminOperationException",
            )
    return found


def _broker(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise ToolError(f'For input string: "{word.strip()}"', "java.lang.NumberFormatException") from None


def parse_configs(pairs: Sequence[str]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        parts = re.split(r"\s*=\s*", pair)
        while parts and not parts[-1]:
            parts.pop()
        if len(parts) != 2:
            raise ToolError(
                "requirement failed: Invalid topic config: all configs to be added must be in the format "
                '"key=val".'
            )
        found[parts[0].strip()] = parts[1].strip()
    return found
