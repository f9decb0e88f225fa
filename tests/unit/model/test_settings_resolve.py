"""DescribeConfigs, row by row, against what an Apache Kafka 4.3.1 broker with the same layers answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from barnabas.model.settings import BROKER_SETTINGS, TOPIC_SETTINGS, resolve
from barnabas.model.settings.broker import BrokerSettings

GOLDEN = json.loads((Path(__file__).parent / "test_settings_describe.json").read_text())
LAYERS = GOLDEN["layers"]
BROKER = BrokerSettings(GOLDEN["static"], LAYERS["cluster"], LAYERS["own"])
TYPES = ["UNKNOWN", "BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD"]
# A dynamic log.roll.ms makes Kafka forget the static log.roll.hours in `value`, but not among the synonyms.
EXCUSED = {("BROKER", "7", "log.roll.hours")}


def ours() -> dict[tuple[str, str, str], resolve.Described]:
    tables = {
        ("BROKER", "7"): resolve.describe_broker(BROKER),
        ("BROKER", ""): resolve.describe_cluster_defaults(BROKER),
        ("TOPIC", "settings-a"): resolve.describe_topic(LAYERS["topic"], BROKER),
        ("GROUP", "settings-g"): resolve.describe_group(LAYERS["group"], BROKER),
        ("CLIENT_METRICS", "settings-m"): resolve.describe_client_metrics(LAYERS["cm"]),
    }
    return {(*resource, entry.name): entry for resource, entries in tables.items() for entry in entries}


OURS = ours()


def test_the_same_settings_are_described() -> None:
    assert set(OURS) == {(kind, resource, name) for kind, resource, name, *_ in GOLDEN["described"]}


@pytest.mark.parametrize("resource_type", ["BROKER", "TOPIC", "GROUP", "CLIENT_METRICS"])
def test_settings_are_described_as_kafka_describes_them(resource_type: str) -> None:
    for golden in GOLDEN["described"]:
        if golden[0] == resource_type:
            compare(golden)


def compare(golden: list[Any]) -> None:
    kind, resource, name, value, source, sensitive, read_only, type_name, synonyms = golden
    entry = OURS[kind, resource, name]
    facts = (entry.source.name, entry.sensitive, entry.read_only, TYPES[entry.type_id])
    assert facts == (source, sensitive, read_only, type_name), name
    assert [[each.name, each.value, each.source.name] for each in entry.synonyms] == synonyms, name
    if (kind, resource, name) not in EXCUSED:
        assert entry.value == value, name


def test_documentation_is_the_rows() -> None:
    described = {entry.name: entry.documentation for entry in resolve.describe_topic({}, BROKER)}
    assert described["retention.ms"] == TOPIC_SETTINGS["retention.ms"].doc


def test_zookeepers_keys_are_described_only_where_zookeeper_is_used() -> None:
    def names(static: dict[str, str]) -> set[str]:
        return {entry.name for entry in resolve.describe_broker(BrokerSettings(static))}

    assert "zookeeper.session.timeout.ms" not in names({})
    assert "zookeeper.session.timeout.ms" in names({"zookeeper.connect": "h:2181"})


def test_no_password_is_ever_described() -> None:
    secrets = {name for name, row in BROKER_SETTINGS.items() if row.sensitive}
    static = dict.fromkeys(secrets, "do-not-show") | {"listener.name.x.ssl.key.password": "do-not-show"}
    for entry in resolve.describe_broker(BrokerSettings(static)):
        assert entry.value != "do-not-show"
        assert all(each.value != "do-not-show" for each in entry.synonyms)
