"""Moving in from Apache Kafka: what its metadata log says, and the decision to take its topics over."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from barnabas.controller.adoption import adopt
from barnabas.controller.decision import Decision
from barnabas.controller.kraft import topic_settings
from barnabas.model.image import ClusterImage, TopicImage
from barnabas.model.settings import SettingError
from barnabas.model.settings.table import TOPIC_SETTINGS
from barnabas.model.settings.topic import validate
from barnabas.records.batch import headers
from barnabas.records.errors import RecordsError
from barnabas.records.walk import records_of

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.BrokerServer")

_METADATA_FOLDER = "__cluster_metadata-0"
_DECOMPRESSED_BYTES_MAX = 64 << 20


def take_over(node: Node, image: ClusterImage) -> Decision[TopicImage]:
    found = {}
    for place, opened in node.logs.logs.items():
        epoch = opened.leader_epochs.latest_epoch
        found[place] = (opened.topic_id, -1 if epoch is None else epoch)
    settings = _settings(node)
    log.info("Taking over %d partitions that Apache Kafka left in %s", len(found), node.settings.log_dirs)
    return adopt(image, found, settings, node.broker_id, node.random)


def _settings(node: Node) -> dict[str, dict[str, str]]:
    for directory in node.settings.log_dirs:
        folder = f"{directory}/{_METADATA_FOLDER}"
        if not node.filesystem.is_directory(folder):
            continue
        try:
            return _sound(node, topic_settings(_values(node, folder)))
        except (RecordsError, ValueError, IndexError) as problem:
            log.warning(
                "Cannot read the topics' settings from %s: %s. They begin with defaults.", folder, problem
            )
    return {}


def _values(node: Node, folder: str) -> Iterator[bytes]:
    """The newest snapshot, then the log."""
    names = node.filesystem.list(folder)
    snapshots = [name for name in names if name.endswith(".checkpoint")]
    for name in [*snapshots[-1:], *(name for name in names if name.endswith(".log"))]:
        data = node.filesystem.read_bytes(f"{folder}/{name}")
        for position, header in headers(data, 0, len(data)):
            if not header.is_control:
                for record in records_of(data, position, header, _DECOMPRESSED_BYTES_MAX):
                    if record.value:
                        yield record.value


def _sound(node: Node, settings: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Only what we know and what is legal here: one odd setting must not keep a topic out."""
    sound: dict[str, dict[str, str]] = {}
    for topic, values in settings.items():
        kept = {name: text for name, text in values.items() if name in TOPIC_SETTINGS}
        try:
            validate(kept, node.settings)
        except SettingError as problem:
            log.warning("Settings of topic %s are left behind: %s", topic, problem)
        else:
            sound[topic] = kept
    return sound
