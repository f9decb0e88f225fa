"""A topic's replicas, and the state of each of its partitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from barnabas.controller.znodes.fields import (
    MalformedNodeError,
    decode,
    encode,
    integer,
    integers,
    json_object,
    required,
)
from barnabas.model.ids import uuid_from_text, uuid_text
from barnabas.model.image import PartitionImage, TopicImage


@dataclass(frozen=True, slots=True)
class TopicNode:
    topic_id: bytes | None  # old tools write none: the controller adds it
    replicas: Mapping[int, tuple[int, ...]]
    adding: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    removing: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StateNode:
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()


def encode_topic(topic: TopicImage) -> bytes:
    def listed(name: str) -> dict[str, list[int]]:
        return {str(p.index): list(getattr(p, name)) for p in topic.partitions if getattr(p, name)}

    return encode(
        {
            "removing_replicas": listed("removing"),
            "partitions": listed("replicas"),
            "topic_id": uuid_text(topic.id),
            "adding_replicas": listed("adding"),
            "version": 3,
        }
    )


def decode_topic(path: str, data: bytes) -> TopicNode:
    value = decode(path, data)

    def lists(name: str) -> dict[int, tuple[int, ...]]:
        found = json_object(path, value.get(name, {}))
        return {integer(path, index): integers(path, ids) for index, ids in found.items()}

    return TopicNode(
        _topic_id(path, value), lists("partitions"), lists("adding_replicas"), lists("removing_replicas")
    )


def _topic_id(path: str, value: Mapping[str, Any]) -> bytes | None:
    text = value.get("topic_id")
    if text is None:
        return None
    try:
        return uuid_from_text(str(text))
    except ValueError as problem:
        raise MalformedNodeError(path, str(problem)) from None


def encode_state(partition: PartitionImage, controller_epoch: int) -> bytes:
    value: dict[str, Any] = {
        "controller_epoch": controller_epoch,
        "leader": partition.leader,
        "version": 1,
        "leader_epoch": partition.leader_epoch,
        "isr": list(partition.isr),
    }
    # Kafka never kept these in ZooKeeper; its tools ignore keys they do not know.
    if partition.elr:
        value["elr"] = list(partition.elr)
    if partition.last_known_elr:
        value["last_known_elr"] = list(partition.last_known_elr)
    return encode(value)


def decode_state(path: str, data: bytes) -> StateNode:
    value = decode(path, data)
    leader, leader_epoch, controller_epoch = (
        integer(path, required(path, value, name)) for name in ("leader", "leader_epoch", "controller_epoch")
    )
    return StateNode(
        leader,
        leader_epoch,
        integers(path, required(path, value, "isr")),
        controller_epoch,
        integers(path, value.get("elr", [])),
        integers(path, value.get("last_known_elr", [])),
    )
