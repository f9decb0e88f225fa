"""`barnabas <noun> <verb>`: tables for people, JSON for programs, errors that say what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.cli.conftest import Broker, Outcome, RunTool


class Command:
    """`barnabas`, with the server filled in."""

    def __init__(self, run: RunTool, broker: Broker) -> None:
        self._run = run
        self._server = ("--server", broker.bootstrap)

    def __call__(self, *words: str, stdin: str = "") -> Outcome:
        return self._run(*words, *self._server, stdin=stdin)

    def json(self, *words: str, stdin: str = "") -> Any:
        outcome = self(*words, "--json", stdin=stdin)
        assert outcome.code == 0, outcome
        return json.loads(outcome.stdout)


@pytest.fixture
def barnabas(run_barnabas: RunTool, broker: Broker) -> Command:
    return Command(run_barnabas, broker)


def test_a_topic_is_created_shown_grown_and_deleted(barnabas: Command, prefix: str) -> None:
    topic = f"{prefix}life"
    assert (
        barnabas("topics", "create", topic, "--partitions", "2").stdout
        == f"Created {topic} with 2 partitions.\n"
    )
    listed = {row["topic"]: row for row in barnabas.json("topics", "list")}
    assert listed[topic]["partitions"] == 2
    barnabas("topics", "grow", topic, "3")
    assert [row["partition"] for row in barnabas.json("topics", "show", topic)] == [0, 1, 2]
    assert "replicas" in barnabas("topics", "show", topic).stdout
    assert barnabas("topics", "delete", topic, stdin="n\n").code == 1
    assert barnabas("topics", "delete", topic, "--yes").code == 0
    assert topic not in {row["topic"] for row in barnabas.json("topics", "list")}


def test_a_dry_run_creates_nothing(barnabas: Command, prefix: str) -> None:
    assert barnabas("topics", "create", f"{prefix}dry", "--dry-run").code == 0
    assert f"{prefix}dry" not in {row["topic"] for row in barnabas.json("topics", "list")}


def test_lines_are_produced_and_read_back(barnabas: Command, prefix: str) -> None:
    topic = f"{prefix}lines"
    barnabas("topics", "create", topic, "--partitions", "1")
    sent = barnabas.json("produce", topic, "--key-separator", "=", stdin="a=1\nb=2\nc=x=y\n")
    assert sent == {"topic": topic, "sent": 3}
    read = barnabas("consume", topic, "--json").stdout.splitlines()
    assert [(row["key"], row["value"], row["offset"]) for row in map(json.loads, read)] == [
        ("a", "1", 0),
        ("b", "2", 1),
        ("c", "x=y", 2),
    ]
    assert barnabas("consume", topic, "--last", "1").stdout == "0:2\tc\tx=y\n"
    assert (
        barnabas("consume", topic, "--partition", "0", "--offset", "1", "--max", "1").stdout == "0:1\tb\t2\n"
    )


def test_an_empty_topic_is_read_to_its_end_at_once(barnabas: Command, prefix: str) -> None:
    barnabas("topics", "create", f"{prefix}empty")
    assert barnabas("consume", f"{prefix}empty") == (0, "", "")


def test_offsets_are_shown_and_trimmed(barnabas: Command, prefix: str) -> None:
    topic = f"{prefix}offsets"
    barnabas("topics", "create", topic, "--partitions", "1")
    barnabas("produce", topic, stdin="1\n2\n3\n")
    assert barnabas.json("offsets", "at", topic, "2001-01-01")[0]["offset"] == 0
    assert barnabas.json("offsets", "trim", topic, "0", "2")[0]["first"] == 2
    assert barnabas.json("offsets", "show", topic) == [
        {"partition": 0, "first": 2, "next": 3, "records at most": 1}
    ]


def test_settings_are_set_shown_and_unset(barnabas: Command, prefix: str) -> None:
    topic = f"{prefix}settings"
    barnabas("topics", "create", topic)

    def own() -> dict[str, str]:
        rows = barnabas.json("configs", "topic", topic)
        return {row["setting"]: row["value"] for row in rows if row["from"] == "dynamic topic"}

    barnabas("configs", "topic", topic, "--set", "retention.ms=7000000")
    assert own() == {"retention.ms": "7000000"}
    barnabas("configs", "topic", topic, "--unset", "retention.ms")
    assert own() == {}


def test_brokers_their_apis_and_their_disks_are_shown(barnabas: Command) -> None:
    (broker,) = barnabas.json("brokers", "list")
    assert broker["controller"] == "yes"
    assert {row["api"] for row in barnabas.json("brokers", "apis")} >= {"Produce", "Fetch", "Metadata"}
    assert all(row["state"] == "online" for row in barnabas.json("logs", "dirs"))


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("topics", "show", "{p}lief"), "did you mean '{p}life'?"),
        (("consume", "{p}lief"), "did you mean '{p}life'?"),
        (("topics", "create", "{p}life"), "`barnabas topics show` prints it; `… grow` adds partitions."),
        (("topics", "grow", "{p}life", "1"), "Topics can grow, never shrink."),
        (("topics", "delete", "{p}lief", "--yes"), "did you mean '{p}life'?"),
        (
            ("consume", "{p}life", "--offset", "3"),
            "--offset needs --partition: every partition counts its own offsets.",
        ),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(
    barnabas: Command, prefix: str, words: tuple[str, ...], hint: str
) -> None:
    barnabas("topics", "create", f"{prefix}life")
    outcome = barnabas(*(word.replace("{p}", prefix) for word in words))
    assert outcome.code == 1
    assert outcome.stderr.splitlines()[-1] == hint.replace("{p}", prefix)


def test_a_broker_that_is_not_there_is_said_so(run_tool: RunTool) -> None:
    outcome = run_tool("barnabas", "topics", "list", "--server", "127.0.0.1:1", "--timeout", "0.5")
    assert outcome.code == 1
    assert outcome.stderr.splitlines() == [
        "No broker answers at 127.0.0.1:1.",
        "Start one with `barnabas run`, or name another with --server HOST:PORT.",
    ]
