"""`partition.metadata`: which topic, of all that ever had this name, a directory belongs to."""

from __future__ import annotations

import logging

from barnabas.log import names
from barnabas.model.ids import ZERO_UUID, uuid_from_text, uuid_text
from barnabas.ports import Filesystem

_LOG = logging.getLogger(__name__)


def read_topic_id(filesystem: Filesystem, directory: str) -> bytes | None:
    """None if the file is missing or says nothing usable."""
    path = f"{directory}/{names.PARTITION_METADATA}"
    try:
        text = filesystem.read_bytes(path).decode(errors="replace")
    except FileNotFoundError:
        return None
    fields = dict(line.partition(": ")[::2] for line in text.splitlines())
    try:
        topic_id = uuid_from_text(fields["topic_id"].strip())
    except (KeyError, ValueError):
        _LOG.warning("Ignoring malformed %s", path)
        return None
    if fields.get("version") != "0" or topic_id == ZERO_UUID:
        _LOG.warning("Ignoring malformed %s", path)
        return None
    return topic_id


def write_topic_id(filesystem: Filesystem, directory: str, topic_id: bytes) -> str:
    """Returns the path, to be synced with the log's first records: until then the metadata store, which
    gave the id, can give it again."""
    path = f"{directory}/{names.PARTITION_METADATA}"
    file = filesystem.open(path, create=True)
    file.truncate(0)
    file.append((f"version: 0\ntopic_id: {uuid_text(topic_id)}".encode(),))
    file.close()
    return path
