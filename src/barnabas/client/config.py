"""Kafka's configuration names, as librdkafka understands them.

People write the Java client's names, in files and on command lines. Most are librdkafka's too; the rest are
renamed here, converted, or left out because librdkafka has no such thing; it refuses names nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from barnabas.client.errors import ClientError
from barnabas.client.security_config import consumed, security_config
from barnabas.wire import SettingsError

Config: TypeAlias = dict[str, Any]

_RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
}

# What only the Java client has: its classes, its buffers' shapes, its telemetry.
_WITHOUT_MEANING = frozenset(
    {
        "auto.include.jmx.reporter",
        "config.providers",
        "default.api.timeout.ms",
        "exclude.internal.topics",
        "interceptor.classes",
        "key.deserializer",
        "key.serializer",
        "max.block.ms",
        "max.poll.records",
        "metadata.max.idle.ms",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "partitioner.adaptive.partitioning.enable",
        "partitioner.availability.timeout.ms",
        "partitioner.class",
        "partitioner.ignore.keys",
        "security.providers",
        "socket.connection.setup.timeout.max.ms",
        "value.deserializer",
        "value.serializer",
    }
)


def _buffer_memory(value: str) -> Config:
    return {"queue.buffering.max.kbytes": max(1, int(value) // 1024)}


def _offset_reset(value: str) -> Config:
    return {"auto.offset.reset": "error" if value == "none" else value}


def _acks(value: str) -> Config:
    # The idempotent producer needs every in-sync replica; whoever asks for less gives it up, as in Kafka.
    return {"acks": value} if value in {"all", "-1"} else {"acks": value, "enable.idempotence": False}


def _retries(value: str) -> Config:
    return {"retries": value} if int(value) > 0 else {"retries": value, "enable.idempotence": False}


def _in_flight(value: str) -> Config:
    name = "max.in.flight.requests.per.connection"
    return {name: value} if int(value) <= 5 else {name: value, "enable.idempotence": False}


_CONVERTED: dict[str, Callable[[str], Config]] = {
    "acks": _acks,
    "auto.offset.reset": _offset_reset,
    "buffer.memory": _buffer_memory,
    "max.in.flight.requests.per.connection": _in_flight,
    "retries": _retries,
}


def translate(properties: Mapping[str, object]) -> Config:
    """The Java client's properties for librdkafka. An explicit `enable.idempotence` is kept: librdkafka then
    refuses the contradiction, as Kafka does."""
    config = security_config(properties)
    left_out = _WITHOUT_MEANING | consumed(properties)
    for name, value in properties.items():
        if name in _CONVERTED:
            config |= _CONVERTED[name](str(value))
        elif name not in left_out:
            config[_RENAMED.get(name, name)] = value
    if "enable.idempotence" in properties:
        config["enable.idempotence"] = properties["enable.idempotence"]
    return config


def from_keywords(keywords: Mapping[str, object]) -> Config:
    """`linger_ms=5` and `**{"linger.ms": 5}` are the same setting: no name of Kafka's has an underscore."""
    try:
        return translate({name.replace("_", "."): value for name, value in keywords.items()})
    except SettingsError as error:
        raise ClientError("INVALID_CONFIG", str(error)) from None


def server_list(bootstrap_servers: str | Iterable[str]) -> str:
    return bootstrap_servers if isinstance(bootstrap_servers, str) else ",".join(bootstrap_servers)
