"""`meta.properties`: whose directory this is. Java's properties format, Kafka's versions 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.model import properties as java_properties
from barnabas.model.ids import RESERVED_UUIDS, uuid_from_text, uuid_text
from barnabas.ports import Filesystem, Random

META_PROPERTIES = "meta.properties"


class InconsistentDirectoryError(Exception):
    """The directory belongs to another broker or cluster, or says nothing readable. The start must stop."""


@dataclass(frozen=True, slots=True)
class MetaProperties:
    cluster_id: str | None
    node_id: int | None
    directory_id: bytes | None


def read(filesystem: Filesystem, directory: str) -> MetaProperties | None:
    path = f"{directory}/{META_PROPERTIES}"
    try:
        data = filesystem.read_bytes(path)
    except FileNotFoundError:
        return None
    return parse(data, path)


def parse(data: bytes, path: str) -> MetaProperties:
    try:
        fields = java_properties.load(data)
    except java_properties.PropertiesError as problem:
        raise InconsistentDirectoryError(f"Malformed {path}: {problem}") from problem
    version = fields.get("version", "0")
    if version not in ("0", "1"):
        raise InconsistentDirectoryError(f"Unknown version {version!r} in {path}: expected 0 or 1")
    node = fields.get("node.id", fields.get("broker.id"))
    try:
        node_id = None if node is None or node == "-1" else int(node)
        directory_id = uuid_from_text(fields["directory.id"]) if "directory.id" in fields else None
    except ValueError as problem:
        raise InconsistentDirectoryError(f"Malformed {path}: {problem}") from problem
    if version == "1" and (node_id is None or "cluster.id" not in fields):
        raise InconsistentDirectoryError(f"Malformed {path}: version 1 needs node.id and cluster.id")
    return MetaProperties(fields.get("cluster.id"), node_id, directory_id)


def write(filesystem: Filesystem, directory: str, properties: MetaProperties) -> None:
    assert properties.directory_id is not None
    fields = {
        "version": "1",
        "cluster.id": str(properties.cluster_id),
        "node.id": str(properties.node_id),
        "directory.id": uuid_text(properties.directory_id),
    }
    text = java_properties.dump(fields, comments=[""])
    filesystem.write_bytes_durably(f"{directory}/{META_PROPERTIES}", text.encode())


def check(found: MetaProperties, path: str, cluster_id: str, node_id: int) -> None:
    if found.cluster_id is not None and found.cluster_id != cluster_id:
        raise InconsistentDirectoryError(
            f"Invalid cluster.id in: {path}. Expected {cluster_id}, but read {found.cluster_id}"
        )
    if found.node_id is not None and found.node_id != node_id:
        raise InconsistentDirectoryError(
            f"Invalid node.id in: {path}. Expected {node_id}, but read {found.node_id}"
        )


def new_directory_id(random: Random) -> bytes:
    """Not reserved, and not a text that a command line would take for an option. Kafka keeps the first
    hundred ids for itself."""
    while True:
        raw = random.bytes(16)
        if raw not in RESERVED_UUIDS and raw[:15] != bytes(15) and not uuid_text(raw).startswith("-"):
            return raw
