"""Changing settings: errors and messages were compared with an Apache Kafka 4.3 broker."""

from __future__ import annotations

import pytest
from tests.unit.controller.support import SETTINGS, Cluster

from barnabas.controller.configs import (
    ConfigResult,
    IncrementalChange,
    WholeChange,
    alter_configs,
)
from barnabas.controller.decision import Decision
from barnabas.controller.topics import NewTopic
from barnabas.model.config_numbers import Operation
from barnabas.model.errors import ErrorCode
from barnabas.model.image import ConfigKind, ConfigResource
from barnabas.model.settings.alter import Change

TOPIC = ConfigResource(ConfigKind.TOPIC, "t")
SET, DELETE, APPEND, SUBTRACT = Operation


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster()
    cluster.create(NewTopic("t"))
    return cluster


def incrementally(
    cluster: Cluster, resource: ConfigResource, *changes: Change, validate_only: bool = False
) -> Decision[ConfigResult]:
    return alter_configs(
        cluster.image,
        [IncrementalChange(resource, changes)],
        settings=SETTINGS,
        broker_id=1,
        validate_only=validate_only,
    )


def test_set_and_delete_change_one_key_and_keep_the_others(cluster: Cluster) -> None:
    both = (Change("retention.ms", SET, "5"), Change("cleanup.policy", SET, "compact"))
    cluster.carry_out(incrementally(cluster, TOPIC, *both))
    cluster.carry_out(incrementally(cluster, TOPIC, Change("retention.ms", DELETE)))
    assert cluster.image.configs[TOPIC] == {"cleanup.policy": "compact"}
    assert cluster.is_consistent()


def test_append_and_subtract_start_from_the_default(cluster: Cluster) -> None:
    cluster.carry_out(incrementally(cluster, TOPIC, Change("cleanup.policy", APPEND, "compact,delete")))
    assert cluster.image.configs[TOPIC] == {"cleanup.policy": "delete,compact"}
    cluster.carry_out(incrementally(cluster, TOPIC, Change("cleanup.policy", SUBTRACT, "delete,nope")))
    assert cluster.image.configs[TOPIC] == {"cleanup.policy": "compact"}


def test_deleting_the_last_key_leaves_no_settings(cluster: Cluster) -> None:
    cluster.carry_out(incrementally(cluster, TOPIC, Change("retention.ms", SET, "5")))
    cluster.carry_out(incrementally(cluster, TOPIC, Change("retention.ms", DELETE)))
    assert TOPIC not in cluster.image.configs
    assert cluster.is_consistent()


def test_the_older_way_replaces_everything(cluster: Cluster) -> None:
    cluster.carry_out(incrementally(cluster, TOPIC, Change("retention.ms", SET, "5")))
    change = WholeChange(TOPIC, (("cleanup.policy", "compact"),))
    cluster.carry_out(alter_configs(cluster.image, [change], settings=SETTINGS, broker_id=1))
    assert cluster.image.configs[TOPIC] == {"cleanup.policy": "compact"}
    assert cluster.is_consistent()


@pytest.mark.parametrize(
    ("resource", "key", "value"),
    [
        (ConfigResource(ConfigKind.BROKER, ""), "key", "Wert für ü"),
        (ConfigResource(ConfigKind.BROKER, "1"), "key", "Wert für ü"),
        (ConfigResource(ConfigKind.GROUP, "a group/with: odd % name"), "share.auto.offset.reset", "earliest"),
        (ConfigResource(ConfigKind.CLIENT_METRICS, "m"), "metrics", "Wert für ü"),
    ],
)
def test_settings_of_every_kind_come_back_from_the_store(
    cluster: Cluster, resource: ConfigResource, key: str, value: str
) -> None:
    assert cluster.carry_out(incrementally(cluster, resource, Change(key, SET, value))) == (
        ConfigResult(resource),
    )
    assert cluster.image.configs[resource] == {key: value}
    assert cluster.is_consistent()
    cluster.carry_out(incrementally(cluster, resource, Change(key, DELETE)))
    assert resource not in cluster.image.configs
    assert cluster.is_consistent()


def test_validate_only_writes_nothing(cluster: Cluster) -> None:
    decision = incrementally(cluster, TOPIC, Change("retention.ms", SET, "5"), validate_only=True)
    assert decision == Decision((ConfigResult(TOPIC),))


@pytest.mark.parametrize(
    ("resource", "alterations", "error", "message"),
    [
        (TOPIC, [("a", SET, None), ("b", APPEND, None)], 42, "Null value not supported for : a, b"),
        (TOPIC, [("a", SET, "1"), ("a", SET, "2")], 42, "Error due to duplicate config keys"),
        (
            TOPIC,
            [("retention.ms", APPEND, "1")],
            40,
            "Can't APPEND to key retention.ms because its type is not LIST.",
        ),
        (
            TOPIC,
            [("retention.ms", SUBTRACT, "1")],
            40,
            "Can't SUBTRACT to key retention.ms because its type is not LIST.",
        ),
        (TOPIC, [("nope", SET, "1")], 40, "Unknown topic config name: nope"),
        (TOPIC, [("retention.ms", 9, "1")], 42, "Unknown operations type 9"),
        (
            ConfigResource(ConfigKind.TOPIC, "none"),
            [("retention.ms", SET, "1")],
            3,
            "The topic 'none' does not exist.",
        ),
        (ConfigResource(ConfigKind.TOPIC, ""), [], 42, "Default topic resources are not allowed."),
        (
            ConfigResource(ConfigKind.TOPIC, "a b"),
            [],
            17,
            "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'",
        ),
        (
            ConfigResource(ConfigKind.BROKER, "7"),
            [],
            42,
            "Unexpected broker id, expected 1, but received 7",
        ),
        (ConfigResource(ConfigKind.BROKER, "x"), [], 42, "Node id must be an integer, but it is: x"),
        (
            ConfigResource(ConfigKind.BROKER, "1"),
            [("log.retention.ms", APPEND, "3")],
            40,
            "Config value append is not allowed for config key: log.retention.ms",
        ),
        (ConfigResource(ConfigKind.GROUP, ""), [], 42, "Default group resources are not allowed."),
        (ConfigResource(ConfigKind.CLIENT_METRICS, ""), [], 42, "Subscription name can't be empty"),
    ],
)
def test_what_kafka_refuses_is_refused_in_its_words(
    cluster: Cluster,
    resource: ConfigResource,
    alterations: list[tuple[str, int, str | None]],
    error: int,
    message: str,
) -> None:
    decision = incrementally(cluster, resource, *(Change(*one) for one in alterations))
    (result,) = decision.results
    assert (result.resource, result.error, result.message) == (resource, error, message)
    assert (decision.operations, decision.deltas) == ((), ())


def test_a_resource_given_twice_is_refused_both_times(cluster: Cluster) -> None:
    change = WholeChange(TOPIC, ())
    decision = alter_configs(cluster.image, [change, change], settings=SETTINGS, broker_id=1)
    assert [result.message for result in decision.results] == ["Each resource must appear at most once."] * 2


def test_deleting_an_unknown_key_is_no_error(cluster: Cluster) -> None:
    (result,) = incrementally(cluster, TOPIC, Change("nope", DELETE)).results
    assert result.error is ErrorCode.NONE
