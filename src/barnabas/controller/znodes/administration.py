"""Settings, and what tools leave under /admin and the notification paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from barnabas.controller.tree import CONFIG, config_path, config_resource
from barnabas.controller.znodes.fields import (
    MalformedNodeError,
    decode,
    encode,
    integer,
    integers,
    json_list,
    json_object,
    required,
)
from barnabas.model.ids import TopicPartition
from barnabas.model.image import ConfigResource


def encode_config(values: Mapping[str, str]) -> bytes:
    return encode({"version": 1, "config": dict(values)})


def decode_config(path: str, data: bytes) -> dict[str, str]:
    """A node without value holds no settings: 'users/<user>' may exist only for the clients below it."""
    if data == b"":
        return {}
    config = json_object(path, decode(path, data).get("config", {}))
    return {str(key): str(value) for key, value in config.items()}


def encode_config_change(resource: ConfigResource) -> bytes:
    return encode({"version": 2, "entity_path": config_path(resource).removeprefix(f"{CONFIG}/")})


def decode_config_change(path: str, data: bytes) -> ConfigResource:
    entity_path = str(required(path, decode(path, data), "entity_path"))
    resource = config_resource(f"{CONFIG}/{entity_path}")
    if resource is None:
        raise MalformedNodeError(path, f"'{entity_path}' names no resource")
    return resource


def encode_partitions(partitions: Sequence[TopicPartition]) -> bytes:
    """Of /admin/preferred_replica_election and of /isr_change_notification."""
    named = [{"topic": topic, "partition": partition} for topic, partition in partitions]
    return encode({"version": 1, "partitions": named})


def decode_partitions(path: str, data: bytes) -> tuple[TopicPartition, ...]:
    return tuple(partition for partition, _ in _listed_partitions(path, data))


def encode_reassignment(replicas: Mapping[TopicPartition, Sequence[int]]) -> bytes:
    named = [
        {"topic": topic, "partition": partition, "replicas": list(ids)}
        for (topic, partition), ids in replicas.items()
    ]
    return encode({"version": 1, "partitions": named})


def decode_reassignment(path: str, data: bytes) -> dict[TopicPartition, tuple[int, ...]]:
    return {
        partition: integers(path, required(path, value, "replicas"))
        for partition, value in _listed_partitions(path, data)
    }


def _listed_partitions(path: str, data: bytes) -> list[tuple[TopicPartition, dict[str, Any]]]:
    found = []
    for item in json_list(path, required(path, decode(path, data), "partitions")):
        value = json_object(path, item)
        index = integer(path, required(path, value, "partition"))
        found.append((TopicPartition(str(required(path, value, "topic")), index), value))
    return found


def encode_log_dir_failure(broker_id: int) -> bytes:
    return encode({"version": 1, "broker": broker_id, "event": 1})


def decode_log_dir_failure(path: str, data: bytes) -> int:
    return integer(path, required(path, decode(path, data), "broker"))
