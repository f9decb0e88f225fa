"""The command line of kafka-console-producer: its options and the settings that come of them."""

from __future__ import annotations

import sys

from barnabas.cli.support.librdkafka import ConfigError
from barnabas.cli.support.options import Option, OptionError, Options, Parser
from barnabas.cli.support.properties import parse_pairs, properties_file, properties_of
from barnabas.cli.support.running import one_of

_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_ACKS = ("all", "-1", "0", "1")
_LINE_READER = "org.apache.kafka.tools.LineMessageReader"

_READER_PROPERTIES = """
 parse.key=true|false (default false)
 key.separator=<separator> (default a tab)
 parse.headers=true|false (default false)
 headers.delimiter=<separator> (default a tab)
 headers.separator=<separator> (default a comma)
 headers.key.separator=<separator> (default a colon)
 ignore.error=true|false (default false)
 null.marker=<text that stands for null>
A full line is headers, key, value: "h1:v1,h2:v2\\tkey\\tvalue"."""

PARSER = Parser(
    "This tool helps to read data from standard input and publish it to Kafka.",
    [
        Option("topic", "REQUIRED: The topic to write to.", "String: topic"),
        Option(
            "bootstrap-server",
            "REQUIRED: Where to find the cluster: HOST1:PORT1,HOST2:PORT2.",
            "String: server to connect to",
        ),
        Option("broker-list", "Old name of --bootstrap-server.", "String: server to connect to", hidden=True),
        Option("sync", "Wait for each record's acknowledgement before reading the next line."),
        Option(
            "compression-codec",
            "One of 'none', 'gzip', 'snappy', 'lz4', 'zstd'; 'gzip' when no name is given.",
            "String: compression-codec",
            argument_optional=True,
        ),
        Option("batch-size", "Bytes of one batch (batch.size).", "Integer: size", "16384"),
        Option(
            "message-send-max-retries",
            "How often to try again before giving a record up (retries).",
            "Integer",
            "3",
        ),
        Option("retry-backoff-ms", "Pause before trying again (retry.backoff.ms).", "Long", "100"),
        Option(
            "timeout",
            "How long a record may wait for others to share its batch (linger.ms).",
            "Long: timeout_ms",
            "1000",
        ),
        Option(
            "request-required-acks",
            "Who must have a record before it counts (acks).",
            "String: request required acks",
            "-1",
        ),
        Option(
            "request-timeout-ms",
            "How long to wait for an acknowledgement (request.timeout.ms).",
            "Integer: request timeout ms",
            "1500",
        ),
        Option(
            "metadata-expiry-ms",
            "How old metadata may get (metadata.max.age.ms).",
            "Long: metadata expiration interval",
            "300000",
        ),
        Option(
            "max-block-ms", "How long to wait for the topic to appear.", "Long: max block on send", "60000"
        ),
        Option(
            "max-memory-bytes",
            "Memory for records that wait (buffer.memory).",
            "Long: total memory in bytes",
            "33554432",
        ),
        Option(
            "max-partition-memory-bytes",
            "(Deprecated) Use --batch-size.",
            "Integer: memory in bytes per partition",
            "16384",
        ),
        Option("line-reader", "How lines are read; only Kafka's own.", "String: reader_class", _LINE_READER),
        Option("socket-buffer-size", "send.buffer.bytes.", "Integer: size", "102400"),
        Option("property", "(DEPRECATED) Use --reader-property.", "String: prop"),
        Option(
            "reader-property", "How to take lines apart, as key=value:" + _READER_PROPERTIES, "String: prop"
        ),
        Option("reader-config", "File with reader properties.", "String: config file"),
        Option("producer-property", "(DEPRECATED) Use --command-property.", "String: producer_prop"),
        Option("command-property", "A producer setting, as key=value.", "String: producer_prop"),
        Option("producer.config", "(DEPRECATED) Use --command-config.", "String: config file"),
        Option("command-config", "File with producer settings.", "String: config file"),
    ],
)

# Options that are producer settings; the later of two that set the same one wins.
_SETTINGS = {
    "timeout": "linger.ms",
    "request-required-acks": "acks",
    "request-timeout-ms": "request.timeout.ms",
    "message-send-max-retries": "retries",
    "retry-backoff-ms": "retry.backoff.ms",
    "socket-buffer-size": "send.buffer.bytes",
    "max-memory-bytes": "buffer.memory",
    "batch-size": "batch.size",
    "max-partition-memory-bytes": "batch.size",
    "metadata-expiry-ms": "metadata.max.age.ms",
}


def checked(options: Options) -> str:
    pairs = (
        ("reader-property", "property"),
        ("command-property", "producer-property"),
        ("command-config", "producer.config"),
    )
    for new, old in pairs:
        if options.has(new) and options.has(old):
            raise options.wrong(f"Options --{new} and --{old} cannot be specified together.")
    if options.has("max-partition-memory-bytes"):
        print(
            "Warning: --max-partition-memory-bytes is deprecated and will be removed in Apache Kafka 5.0. "
            "Use --batch-size instead.",
            file=sys.stderr,
        )
    options.require("topic")
    servers = options.value("bootstrap-server") or options.value("broker-list") or ""
    if not servers:
        raise options.wrong("Error while validating the bootstrap address\n")
    if not all(server.rpartition(":")[2].isdigit() and ":" in server for server in servers.split(",")):
        raise options.wrong("Please provide valid host:port like host1:9091,host2:9092\n")
    return servers


def reader_properties(options: Options) -> dict[str, str]:
    name = options.text("line-reader").rpartition(".")[2]
    if name != "LineMessageReader":
        raise OptionError(f"java.lang.ClassNotFoundException: {options.text('line-reader')}")
    pairs = options.values(one_of(options, "reader-property", "property"))
    return properties_file(options.value("reader-config")) | parse_pairs(pairs)


def producer_properties(options: Options, servers: str) -> dict[str, str]:
    properties = properties_of(
        options,
        one_of(options, "command-config", "producer.config"),
        one_of(options, "command-property", "producer-property"),
    )
    properties["bootstrap.servers"] = servers
    properties["compression.type"] = _codec(options)
    properties.setdefault("client.id", "console-producer")
    for option, setting in _SETTINGS.items():
        if PARSER.option(option).kind != "String":
            options.integer(option)  # complains of what is not a number
        if options.has(option) or setting not in properties:
            properties[setting] = options.text(option)
    if properties["acks"] not in _ACKS:
        raise ConfigError(
            f"Invalid value {properties['acks']} for configuration acks: "
            f"String must be one of: {', '.join(_ACKS)}"
        )
    if properties.get("enable.idempotence", "").lower() == "true" and properties["acks"] not in {"all", "-1"}:
        raise ConfigError(
            "Must set acks to all in order to use the idempotent producer. "
            "Otherwise we cannot guarantee idempotence."
        )
    return properties


def _codec(options: Options) -> str:
    codec = (options.value("compression-codec") or "gzip") if options.has("compression-codec") else "none"
    if codec not in _CODECS:
        raise ConfigError(
            f"Invalid value {codec} for configuration compression.type: "
            f"String must be one of: {', '.join(_CODECS)}"
        )
    return codec
