"""Kafka's configuration names reach librdkafka under the names it knows."""

from __future__ import annotations

import pytest

from barnabas.client.config import from_keywords, server_list, translate


def test_underscores_and_dots_are_the_same_setting() -> None:
    assert from_keywords({"linger_ms": 5}) == from_keywords({"linger.ms": 5}) == {"linger.ms": 5}


@pytest.mark.parametrize(
    ("java", "expected"),
    [
        ({"buffer.memory": "33554432"}, {"queue.buffering.max.kbytes": 32768}),
        ({"max.request.size": 7}, {"message.max.bytes": 7}),
        ({"fetch.max.wait.ms": 7}, {"fetch.wait.max.ms": 7}),
        ({"auto.offset.reset": "none"}, {"auto.offset.reset": "error"}),
        ({"auto.offset.reset": "latest"}, {"auto.offset.reset": "latest"}),
        ({"key.serializer": "x.Y", "value.deserializer": "x.Z", "max.poll.records": 5}, {}),
        ({"acks": "all"}, {"acks": "all"}),
    ],
)
def test_names_of_the_java_client_are_translated(
    java: dict[str, object], expected: dict[str, object]
) -> None:
    assert translate(java) == expected


@pytest.mark.parametrize(
    "weaker", [{"acks": 1}, {"acks": "0"}, {"retries": 0}, {"max.in.flight.requests.per.connection": 6}]
)
def test_asking_for_less_safety_gives_up_idempotence_as_in_kafka(weaker: dict[str, object]) -> None:
    assert translate(weaker)["enable.idempotence"] is False


def test_an_explicit_idempotence_is_never_overruled() -> None:
    assert translate({"enable.idempotence": "true", "acks": "1"})["enable.idempotence"] == "true"


def test_jaas_credentials_become_name_and_password() -> None:
    line = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="a b";'
    assert translate({"sasl.jaas.config": line}) == {"sasl.username": "me", "sasl.password": "a b"}


def test_servers_may_be_a_text_or_a_list() -> None:
    assert server_list("a:1,b:2") == server_list(["a:1", "b:2"]) == "a:1,b:2"
