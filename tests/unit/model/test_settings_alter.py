"""Changing settings answers as Apache Kafka 4.3.1 answered: the transcript beside this file, line by line.

A line is `RESOURCE-TYPE resource-name OPERATION name=value;name=value  =>  outcome`; the name `-` stands for
all brokers. The broker that answered had the settings below, and its topic `settings-a` the overrides.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.model.config_numbers import Operation
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.settings import Scope, alter, validation
from barnabas.model.settings.alter import Change
from barnabas.model.settings.broker import BrokerSettings

LINES = (Path(__file__).parent / "test_settings_alter.txt").read_text().splitlines()
STATIC = {
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://127.0.0.1:19092,CONTROLLER://127.0.0.1:19093",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
}
BROKER = BrokerSettings(STATIC, {"min.insync.replicas": "1"})
TOPIC = {"retention.ms": "1000", "cleanup.policy": "compact,delete"}
EXCEPTIONS = {
    ErrorCode.INVALID_CONFIG: "InvalidConfigurationException",
    ErrorCode.INVALID_REQUEST: "InvalidRequestException",
}


def answer(kind: str, resource: str, operation: str, pairs: str) -> str:
    split = [pair.partition("=") for pair in pairs.split(";")]
    changes = [Change(name, Operation[operation], value) for name, _, value in split]
    scope = Scope[kind]
    current = {Scope.TOPIC: TOPIC, Scope.BROKER: BROKER.cluster_dynamic if resource == "-" else {}}
    try:
        alter.check_changes(changes)
        overrides = alter.altered(scope, current.get(scope, {}), changes)
        validation.check(scope, overrides, BROKER, per_broker=resource != "-")
    except ApiError as error:
        return f"{EXCEPTIONS[error.code]}: {error.message}"
    return "OK"


@pytest.mark.parametrize("line", LINES)
def test_change_is_answered_as_kafka_answers_it(line: str) -> None:
    request, _, expected = line.partition("  =>  ")
    kind, resource, operation, pairs = request.split(" ", 3)
    assert answer(kind, resource, operation, pairs) == expected


def changed(current: dict[str, str], operation: Operation, value: str) -> dict[str, str]:
    return alter.altered(Scope.TOPIC, current, [Change("cleanup.policy", operation, value)])


def test_append_starts_from_the_default_and_repeats_nothing() -> None:
    assert changed({}, Operation.APPEND, "compact") == {"cleanup.policy": "delete,compact"}
    assert changed({"cleanup.policy": "compact"}, Operation.APPEND, "compact,delete") == {
        "cleanup.policy": "compact,delete"
    }


def test_subtract_leaves_the_rest() -> None:
    assert changed({"cleanup.policy": "compact,delete"}, Operation.SUBTRACT, "delete") == {
        "cleanup.policy": "compact"
    }
    assert changed({}, Operation.SUBTRACT, "delete") == {"cleanup.policy": ""}


def test_delete_forgets_the_override() -> None:
    assert changed({"cleanup.policy": "compact"}, Operation.DELETE, "") == {}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ([Change("retention.ms", 0, None)], "Null value not supported for : retention.ms"),
        ([Change("a", 0, "1"), Change("a", 1, None)], "Error due to duplicate config keys"),
    ],
)
def test_malformed_changes_are_refused(changes: list[Change], sentence: str) -> None:
    with pytest.raises(ApiError) as caught:
        alter.check_changes(changes)
    assert (caught.value.code, caught.value.message) == (ErrorCode.INVALID_REQUEST, sentence)


def test_legacy_alter_replaces_everything_and_knows_no_null() -> None:
    assert alter.replaced([("a", "1"), ("b", "2")]) == {"a": "1", "b": "2"}
    with pytest.raises(ApiError, match="Null value not supported for : b"):
        alter.replaced([("a", "1"), ("b", None)])


def test_what_check_broker_returns_is_in_force() -> None:
    after = validation.check_broker({"log.retention.ms": "7"}, BROKER, per_broker=False)
    assert after.log_retention_ms == 7
    assert BROKER.log_retention_ms == 7 * 24 * 3_600_000
