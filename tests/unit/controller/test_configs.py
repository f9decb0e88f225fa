"""Changing settings: errors and messages were compared with an Apache Kafka 4.3 broker."""

from __future__ import annotations

import pytest
from tests.unit.controller.support import Cluster, Rules, SeededRandom

from barnabas.controller.configs import (
    Alteration,
    AlterOperation,
    ConfigResult,
    IncrementalChange,
    WholeChange,
    alter_configs,
    alter_configs_incrementally,
)
from barnabas.controller.decision import Decision
from barnabas.controller.topics import NewTopic, TopicDefaults, create_topics
from barnabas.model.errors import ErrorCode
from barnabas.model.image import ConfigKind, ConfigResource

TOPIC = ConfigResource(ConfigKind.TOPIC, "t")
SET, DELETE, APPEND, SUBTRACT = AlterOperation


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster()
    cluster.carry_out(
        create_topics(
            cluster.image,
            [NewTopic("t")],
            defaults=TopicDefaults(1, 1),
            check_configs=Rules().check,
            random=SeededRandom(),
        )
    )
    return cluster


class AnyRules(Rules):
    def check(self, resource: ConfigResource, values: object) -> None:
        pass


def incrementally(
    cluster: Cluster, resource: ConfigResource, *alterations: Alteration, validate_only: bool = False
) -> Decision[ConfigResult]:
    rules = Rules() if resource.kind is ConfigKind.TOPIC else AnyRules()
    return alter_configs_incrementally(
        cluster.image,
        [IncrementalChange(resource, alterations)],
        rules=rules,
        broker_id=1,
        validate_only=validate_only,
    )


def test_set_and_delete_change_one_key_and_keep_the_others(cluster: Cluster) -> None:
    both = (Alteration("retention.ms", SET, "5"), Alteration("cleanup.policy", SET, "compact"))
    cluster.carry_out(incrementally(cluster, TOPIC, *both))
    cluster.carry_out(incrementally(cluster, TOPIC, Alteration("retention.ms", DELETE)))
    assert cluster.image.configs[TOPIC] == {"cleanup.policy": "compact"}
    assert cluster.is_consistent()


def test_append_and_subtract_start_from_the_default(cluster: Cluster) -> None:
    cluster.carry_out(incrementally(cluster, TOPIC, Alteration("cleanup.policy", APPEND, "compact,delete")))
    assert cluster.image.configs[TOPIC] == {"cleanup.policy": "delete,compact"}
    cluster.carry_out(incrementally(cluster, TOPIC, Alteration("cleanup.policy", SUBTRACT, "delete,nope")))
    assert cluster.image.configs[TOPIC] == {"cleanup.policy": "compact"}


def test_deleting_the_last_key_leaves_no_settings(cluster: Cluster) -> None:
    cluster.carry_out(incrementally(cluster, TOPIC, Alteration("retention.ms", SET, "5")))
    cluster.carry_out(incrementally(cluster, TOPIC, Alteration("retention.ms", DELETE)))
    assert TOPIC not in cluster.image.configs
    assert cluster.is_consistent()


def test_the_older_way_replaces_everything(cluster: Cluster) -> None:
    cluster.carry_out(incrementally(cluster, TOPIC, Alteration("retention.ms", SET, "5")))
    change = WholeChange(TOPIC, (("cleanup.policy", "compact"),))
    cluster.carry_out(alter_configs(cluster.image, [change], rules=Rules(), broker_id=1))
    assert cluster.image.configs[TOPIC] == {"cleanup.policy": "compact"}
    assert cluster.is_consistent()


@pytest.mark.parametrize(
    "resource",
    [
        ConfigResource(ConfigKind.BROKER, ""),
        ConfigResource(ConfigKind.BROKER, "1"),
        ConfigResource(ConfigKind.GROUP, "a group/with: odd % name"),
        ConfigResource(ConfigKind.CLIENT_METRICS, "m"),
        ConfigResource(ConfigKind.USER, "alice/clients/<default>"),
    ],
)
def test_settings_of_every_kind_come_back_from_the_store(cluster: Cluster, resource: ConfigResource) -> None:
    cluster.carry_out(incrementally(cluster, resource, Alteration("key", SET, "Wert für ü")))
    assert cluster.image.configs[resource] == {"key": "Wert für ü"}
    assert cluster.is_consistent()
    cluster.carry_out(incrementally(cluster, resource, Alteration("key", DELETE)))
    assert resource not in cluster.image.configs
    assert cluster.is_consistent()


def test_validate_only_writes_nothing(cluster: Cluster) -> None:
    decision = incrementally(cluster, TOPIC, Alteration("retention.ms", SET, "5"), validate_only=True)
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
    decision = incrementally(cluster, resource, *(Alteration(*one) for one in alterations))
    (result,) = decision.results
    assert (result.resource, result.error, result.message) == (resource, error, message)
    assert (decision.operations, decision.deltas) == ((), ())


def test_a_resource_given_twice_is_refused_both_times(cluster: Cluster) -> None:
    change = WholeChange(TOPIC, ())
    decision = alter_configs(cluster.image, [change, change], rules=Rules(), broker_id=1)
    assert [result.message for result in decision.results] == ["Each resource must appear at most once."] * 2


def test_deleting_an_unknown_key_is_no_error(cluster: Cluster) -> None:
    (result,) = incrementally(cluster, TOPIC, Alteration("nope", DELETE)).results
    assert result.error is ErrorCode.NONE
