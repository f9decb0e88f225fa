"""Brokers, the controller, the cluster's id and features, producer ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from barnabas.controller.znodes.fields import (
    MalformedNodeError,
    decode,
    encode,
    integer,
    json_list,
    json_object,
    required,
)
from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.image import BrokerImage, ProducerIdBlock

_SECURITY_PROTOCOLS = {str(protocol) for protocol in SecurityProtocol}


def encode_broker(
    broker: BrokerImage, timestamp_ms: int, features: Mapping[str, tuple[int, int]] | None = None
) -> bytes:
    """Host and port repeat the first PLAINTEXT endpoint, for clients older than listeners."""
    plain = [e for e in broker.endpoints.values() if e.security_protocol is SecurityProtocol.PLAINTEXT]
    value = {
        "listener_security_protocol_map": {n: e.security_protocol for n, e in broker.endpoints.items()},
        "endpoints": [f"{n}://{_bracketed(e.host)}:{e.port}" for n, e in broker.endpoints.items()],
        "jmx_port": -1,
        "features": {
            name: {"min_version": low, "max_version": high} for name, (low, high) in (features or {}).items()
        },
        "host": plain[0].host if plain else None,
        "timestamp": str(timestamp_ms),
        "port": plain[0].port if plain else -1,
        "version": 5,
    }
    if broker.rack is not None:
        value["rack"] = broker.rack
    # Kafka never kept this in ZooKeeper; its tools ignore keys they do not know.
    if broker.fenced:
        value["unclean"] = True
    return encode(value)


def decode_broker(path: str, data: bytes, epoch: int) -> BrokerImage:
    value = decode(path, data)
    broker_id = integer(path, path.rpartition("/")[2])
    rack = value.get("rack")
    return BrokerImage(
        broker_id,
        epoch,
        _endpoints(path, value),
        None if rack is None else str(rack),
        fenced=value.get("unclean") is True,
    )


def _endpoints(path: str, value: Mapping[str, Any]) -> dict[str, Endpoint]:
    if "endpoints" not in value:
        port = integer(path, required(path, value, "port"))
        host = str(required(path, value, "host"))
        return {"PLAINTEXT": Endpoint(host, port, SecurityProtocol.PLAINTEXT)}
    protocols = json_object(path, value.get("listener_security_protocol_map", {}))
    endpoints = {}
    for text in json_list(path, value["endpoints"]):
        listener, _, address = str(text).partition("://")
        host, _, port_text = address.rpartition(":")
        protocol = str(protocols.get(listener, listener))
        if protocol not in _SECURITY_PROTOCOLS:
            raise MalformedNodeError(path, f"'{protocol}' is not a security protocol")
        endpoints[listener] = Endpoint(host.strip("[]"), integer(path, port_text), SecurityProtocol(protocol))
    return endpoints


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def encode_controller(broker_id: int, timestamp_ms: int) -> bytes:
    return encode(
        {"version": 2, "brokerid": broker_id, "timestamp": str(timestamp_ms), "kraftControllerEpoch": -1}
    )


def decode_controller(path: str, data: bytes) -> int:
    return integer(path, required(path, decode(path, data), "brokerid"))


def encode_controller_epoch(epoch: int) -> bytes:
    return str(epoch).encode()


def decode_controller_epoch(path: str, data: bytes) -> int:
    return integer(path, data.decode(errors="replace"))


def encode_cluster_id(cluster_id: str) -> bytes:
    return encode({"version": "1", "id": cluster_id})


def decode_cluster_id(path: str, data: bytes) -> str:
    return str(required(path, decode(path, data), "id"))


def encode_features(features: Mapping[str, int]) -> bytes:
    levels = {name: {"max_version_level": level} for name, level in features.items()}
    return encode({"version": 2, "status": 1, "features": levels})


def decode_features(path: str, data: bytes) -> dict[str, int]:
    levels = json_object(path, required(path, decode(path, data), "features"))
    return {
        name: integer(path, required(path, json_object(path, level), "max_version_level"))
        for name, level in levels.items()
    }


def encode_producer_ids(block: ProducerIdBlock) -> bytes:
    return encode(
        {
            "version": 1,
            "broker": block.broker,
            "block_start": str(block.first),
            "block_end": str(block.last),
        }
    )


def decode_producer_ids(path: str, data: bytes) -> ProducerIdBlock | None:
    """None before the first block: Kafka makes the node empty at start."""
    if data == b"":
        return None
    value = decode(path, data)
    names = ("broker", "block_start", "block_end")
    broker, first, last = (integer(path, required(path, value, name)) for name in names)
    return ProducerIdBlock(broker, first, last)
