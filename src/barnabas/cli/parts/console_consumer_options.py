"""The command line of kafka-console-consumer: its options and the settings that come of them."""

from __future__ import annotations

import random
from dataclasses import dataclass

from barnabas.cli.parts.console_consumer_formatters import Formatter, FormatterError, formatter_named
from barnabas.cli.support.connecting import NO_ZOOKEEPER
from barnabas.cli.support.log_lines import log
from barnabas.cli.support.options import Option, OptionError, Options, Parser
from barnabas.cli.support.properties import parse_pairs, properties_file
from barnabas.cli.support.record_source import Offset, Selection, topic_pattern
from barnabas.cli.support.running import one_of

_TOOLS = "org.apache.kafka.tools.consumer."
_FORMATTER_PROPERTIES = """
 print.timestamp, print.partition, print.offset, print.delivery, print.epoch, print.headers, print.key,
 print.value=true|false
 key.separator, line.separator, headers.separator, null.literal=<text>
 key.deserializer, value.deserializer, headers.deserializer=<Kafka's class>"""

PARSER = Parser(
    "This tool helps to read data from Kafka topics and outputs it to standard output.",
    [
        Option("topic", "The topic to read.", "String: topic"),
        Option(
            "include",
            "Read all topics whose name matches this regular expression.",
            "String: Java regex (String)",
        ),
        Option("whitelist", "Old name of --include.", "String: Java regex (String)", hidden=True),
        Option(
            "partition",
            "Read only this partition, from its end unless --offset says otherwise.",
            "Integer: partition",
        ),
        Option(
            "offset", "Where to start: a number, 'earliest' or 'latest'.", "String: consume offset", "latest"
        ),
        Option("consumer-property", "(DEPRECATED) Use --command-property.", "String: consumer_prop"),
        Option("command-property", "A consumer setting, as key=value.", "String: consumer_prop"),
        Option("consumer.config", "(DEPRECATED) Use --command-config.", "String: config file"),
        Option("command-config", "File with consumer settings.", "String: config file"),
        Option(
            "formatter",
            "How to write records: DefaultMessageFormatter, LoggingMessageFormatter, NoOpMessageFormatter; "
            "for the coordinators' topics OffsetsMessageFormatter, GroupMetadataMessageFormatter, "
            "TransactionLogMessageFormatter.",
            "String: class",
            _TOOLS + "DefaultMessageFormatter",
        ),
        Option("property", "(DEPRECATED) Use --formatter-property.", "String: prop"),
        Option(
            "formatter-property",
            "A formatter's setting, as key=value:" + _FORMATTER_PROPERTIES,
            "String: prop",
        ),
        Option("formatter-config", "File with the formatter's settings.", "String: config file"),
        Option("from-beginning", "Start with the oldest record where no offset was committed."),
        Option("max-messages", "Stop after so many records.", "Integer: num_messages"),
        Option("timeout-ms", "Stop when no record came for so long.", "Long: timeout_ms"),
        Option("skip-message-on-error", "Go on after a record that cannot be formatted."),
        Option("bootstrap-server", "REQUIRED: Where to find the cluster.", "String: server to connect to"),
        Option("key-deserializer", "Kafka's class that reads keys.", "String: deserializer for keys"),
        Option("value-deserializer", "Kafka's class that reads values.", "String: deserializer for values"),
        Option("enable-systest-events", "Also print the consumer's own events."),
        Option(
            "isolation-level",
            "read_committed hides records of transactions that are not committed.",
            "String",
            "read_uncommitted",
        ),
        Option("group", "Share the topic's partitions with this group.", "String: consumer group id"),
        Option("new-consumer", "Accepted: there is no other consumer any more.", hidden=True),
    ],
    gone={
        "zookeeper": NO_ZOOKEEPER,
        "blacklist": "--blacklist is gone; --include takes a regular expression",
    },
)


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for."""

    selection: Selection
    formatter: Formatter
    messages_max: int | None
    timeout_ms: int | None
    skip_errors: bool
    system_test_events: bool


def request_of(options: Options) -> Request:
    _check(options)
    include = options.value("include") or options.value("whitelist")
    properties = _consumer_properties(options)
    timeout_ms = options.integer("timeout-ms")
    messages_max = options.integer("max-messages")
    return Request(
        Selection(
            options.value("topic"),
            None if include is None else topic_pattern(include),
            options.integer("partition"),
            _offset(options),
            properties,
        ),
        _formatter(options),
        None if messages_max == -1 else messages_max,
        timeout_ms if timeout_ms is not None and timeout_ms >= 0 else None,
        options.has("skip-message-on-error"),
        options.has("enable-systest-events"),
    )


def _check(options: Options) -> None:
    pairs = (
        ("property", "formatter-property"),
        ("consumer-property", "command-property"),
        ("consumer.config", "command-config"),
    )
    for old, new in pairs:
        if options.has(new) and options.has(old):
            raise options.wrong(f"Options --{old} and --{new} cannot be specified together.")
    if sum(options.has(name) for name in ("topic", "include", "whitelist")) != 1:
        raise options.wrong("Exactly one of the following arguments is required: [topic], [include]")
    if options.has("partition"):
        if not options.has("topic"):
            raise options.wrong("The topic is required when partition is specified.")
        if options.has("from-beginning") and options.has("offset"):
            raise options.wrong("Options from-beginning and offset cannot be specified together.")
    elif options.has("offset"):
        raise options.wrong("The partition is required when offset is specified.")
    options.require("bootstrap-server")


def _consumer_properties(options: Options) -> dict[str, str]:
    from_file = _properties_of_file(options)
    typed = parse_pairs(options.values(one_of(options, "command-property", "consumer-property", "Option")))
    groups = [
        found for found in (options.value("group"), from_file.get("group.id"), typed.get("group.id")) if found
    ]
    if len(set(groups)) > 1:
        detected = ", ".join(f"'{group}'" for group in dict.fromkeys(groups))
        raise options.wrong(
            "The group ids provided in different places (directly using '--group', "
            "via '--consumer-property', "
            f"or via '--consumer.config') do not match. Detected group ids: {detected}"
        )
    if groups and options.has("partition"):
        raise options.wrong("Options group and partition cannot be specified together.")
    properties = from_file | typed
    _choose_reset(options, properties)
    properties["bootstrap.servers"] = options.text("bootstrap-server")
    properties.setdefault("client.id", "console-consumer")
    if options.has("isolation-level") or "isolation.level" not in properties:
        properties["isolation.level"] = options.text("isolation-level")
    if not groups:
        # A group for this run only, as Kafka does: nobody will ever continue where it stopped.
        properties["group.id"] = f"console-consumer-{random.randrange(100_000)}"
        properties.setdefault("enable.auto.commit", "false")
    else:
        properties["group.id"] = groups[0]
    return properties


def _properties_of_file(options: Options) -> dict[str, str]:
    return properties_file(options.value(one_of(options, "command-config", "consumer.config", "Option")))


def _choose_reset(options: Options, properties: dict[str, str]) -> None:
    chosen = properties.get("auto.offset.reset")
    from_beginning = options.has("from-beginning")
    if chosen is None:
        properties["auto.offset.reset"] = "earliest" if from_beginning else "latest"
    elif from_beginning and chosen != "earliest":
        raise OptionError(
            f"Can't simultaneously specify --from-beginning and 'auto.offset.reset={chosen}', "
            "please remove one option"
        )


def _offset(options: Options) -> Offset:
    if not options.has("offset"):
        return "earliest" if options.has("from-beginning") else "latest"
    text = options.text("offset")
    if text.lower() == "earliest":
        return "earliest"
    if text.lower() == "latest":
        return "latest"
    if text.isascii() and text.isdigit() and int(text) < 2**63:
        return int(text)
    raise options.wrong(
        f"The provided offset value '{text}' is incorrect. "
        "Valid values are 'earliest', 'latest', or a non-negative long."
    )


def _formatter(options: Options) -> Formatter:
    try:
        properties = properties_file(options.value("formatter-config"))
    except OptionError as error:
        raise options.wrong(str(error).partition(": ")[2]) from None
    for part in ("key", "value"):
        deserialiser = options.value(f"{part}-deserializer")
        if deserialiser:
            properties[f"{part}.deserializer"] = deserialiser
    properties |= parse_pairs(options.values(one_of(options, "formatter-property", "property", "Option")))
    try:
        return formatter_named(
            options.text("formatter"),
            properties,
            lambda line: log("INFO", line, _TOOLS + "LoggingMessageFormatter"),
        )
    except FormatterError as error:
        raise options.wrong(str(error)) from None
