"""Groups as people meet them: the console consumer shares a topic, `barnabas groups` shows how far it is."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import time
from typing import Any

import pytest
from tests.cli.conftest import SCRIPTS, Broker, Outcome, RunTool
from tests.cli.processes import start_tool

from barnabas import Admin, Producer

BARNABAS = "barnabas"


class Command:
    """`barnabas groups`, with the server filled in."""

    def __init__(self, run: RunTool, broker: Broker) -> None:
        self._run = run
        self.server = broker.bootstrap

    def __call__(self, *words: str, stdin: str = "") -> Outcome:
        return self._run("groups", *words, "--server", self.server, stdin=stdin)

    def json(self, *words: str) -> Any:
        outcome = self(*words, "--json")
        assert outcome.code == 0, outcome
        return json.loads(outcome.stdout)


@pytest.fixture
def groups(run_barnabas: RunTool, broker: Broker) -> Command:
    return Command(run_barnabas, broker)


@pytest.fixture
def topic(prefix: str, broker: Broker) -> str:
    """Two partitions, three records in each."""
    name = f"{prefix}topic"
    with Admin(broker.bootstrap) as admin:
        admin.create_topic(name, partitions=2)
    with Producer(broker.bootstrap) as producer:
        for partition in (0, 1):
            for value in ("a", "b", "c"):
                producer.send(name, value, partition=partition)
    return name


def test_a_group_is_put_somewhere_shown_moved_and_deleted(groups: Command, topic: str) -> None:
    group = f"{topic}-g"
    assert groups("reset", group, topic, "--to", "1", "--yes").code == 0
    assert [(row["partition"], row["at"], row["lag"]) for row in groups.json("show", group)] == [
        (0, 1, 2),
        (1, 1, 2),
    ]
    assert {row["group"]: row["state"] for row in groups.json("list", "--type", "classic")}[group] == "Empty"
    assert groups("reset", group, f"{topic}:1", "--by", "5", "--yes").code == 0
    assert groups("reset", group, "--to", "earliest", "--dry-run").code == 0
    assert [row["at"] for row in groups.json("show", group)] == [1, 3]
    assert groups("reset", group, "--to", "earliest", stdin="n\n").code == 1
    assert [row["at"] for row in groups.json("show", group)] == [1, 3]
    assert groups("reset", group, "--to", "2001-01-01", "--yes").code == 0
    assert [row["at"] for row in groups.json("show", group)] == [0, 0]
    assert groups("forget", group, f"{topic}:0", "--yes").code == 0
    assert [row["partition"] for row in groups.json("show", group)] == [1]
    assert groups("delete", group, "--yes").stdout == f"Deleted {group}.\n"
    assert groups("show", group).code == 1


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("show", "{g}x"), "did you mean '{g}'?"),
        (("delete", "{g}x", "--yes"), "did you mean '{g}'?"),
        (("reset", "{g}", "{t}x", "--to", "latest", "--yes"), "did you mean '{t}'?"),
        (("reset", "{g}", "{t}:9", "--to", "latest", "--yes"), "'{t}' has no partition 9."),
        (
            ("reset", "{g}", "--to", "soon", "--yes"),
            "--to wants earliest, latest, current, an offset or a time such as 2026-01-31T12:00; "
            "'soon' is none of these.",
        ),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(
    groups: Command, topic: str, words: tuple[str, ...], hint: str
) -> None:
    group = f"{topic}-group"
    groups("reset", group, topic, "--to", "earliest", "--yes")
    outcome = groups(*(word.format(g=group, t=topic) for word in words))
    assert outcome.code == 1
    assert outcome.stderr.splitlines()[-1] == hint.format(g=group, t=topic)


def test_console_consumers_of_a_group_share_the_topic_and_go_on_where_they_stopped(
    groups: Command, topic: str, run_tool: RunTool, broker: Broker
) -> None:
    group = f"{topic}-readers"
    consume = ("kafka-console-consumer", "--bootstrap-server", broker.bootstrap, "--topic", topic)
    first = run_tool(*consume, "--group", group, "--from-beginning", "--max-messages", "6")
    assert sorted(first.stdout.split()) == ["a", "a", "b", "b", "c", "c"]
    with Producer(broker.bootstrap) as producer:
        producer.send(topic, "d", partition=0)
    assert sum(row["lag"] for row in groups.json("show", group)) == 1
    second = run_tool(*consume, "--group", group, "--from-beginning", "--max-messages", "1")
    assert second.stdout == "d\n"
    assert sum(row["lag"] for row in groups.json("show", group)) == 0


def test_members_are_shown_while_they_read_and_their_group_cannot_be_moved(
    groups: Command, topic: str, broker: Broker
) -> None:
    group = f"{topic}-live"
    options = ("--topic", topic, "--group", group, "--from-beginning")
    reader = start_tool("kafka-console-consumer", "--bootstrap-server", broker.bootstrap, *options)
    try:
        assert reader.stdout is not None
        assert {reader.stdout.readline() for _ in range(6)} == {"a\n", "b\n", "c\n"}
        (member,) = groups.json("members", group)
        assert (member["client"], member["reads"]) == ("console-consumer", f"{topic}:0,1")
        refused = groups("reset", group, "--to", "earliest", "--yes")
        assert refused.stderr.splitlines() == [
            f"{group} is being read: it has 1 member.",
            "Stop its consumers first; `barnabas groups members GROUP` shows them.",
        ]
        assert "Stop its consumers first" in groups("delete", group, "--yes").stderr
        assert "Stop the consumers of this topic first" in groups("forget", group, topic, "--yes").stderr
    finally:
        reader.send_signal(signal.SIGINT)
        reader.communicate(timeout=60)
    assert groups.json("members", group) == []


def test_without_a_group_the_console_consumer_is_alone_in_one_of_its_own(
    groups: Command, topic: str, broker: Broker
) -> None:
    options = ("--topic", topic, "--from-beginning")
    reader = start_tool("kafka-console-consumer", "--bootstrap-server", broker.bootstrap, *options)
    try:
        assert reader.stdout is not None
        assert reader.stdout.readline() in {"a\n", "b\n", "c\n"}
        mine = [
            row["group"]
            for row in groups.json("list", "--state", "Stable")
            if re.fullmatch(r"console-consumer-\d{1,5}", row["group"])
            and any(member["reads"].startswith(topic) for member in groups.json("members", row["group"]))
        ]
        assert len(mine) == 1
    finally:
        reader.send_signal(signal.SIGINT)
        reader.communicate(timeout=60)


# --- --watch ---------------------------------------------------------------------------------------------


def test_looks_at_the_lag_are_lines_where_nobody_watches(groups: Command, topic: str) -> None:
    group = f"{topic}-watched"
    groups("reset", group, topic, "--to", "2", "--yes")
    looks = groups("show", group, "--watch", "--times", "2", "--every", "0.1").stdout.splitlines()
    assert len(looks) == 2
    assert all(f"{group} is Empty: no members, lag 2 {topic}-0=1 {topic}-1=1" in look for look in looks)
    objects = groups("show", group, "--watch", "--times", "2", "--every", "0.1", "--json").stdout
    assert [json.loads(line)["lag"] for line in objects.splitlines()] == [2, 2]


def test_the_live_view_draws_bars_until_ctrl_c(groups: Command, topic: str) -> None:
    group = f"{topic}-live-view"
    groups("reset", group, topic, "--to", "0", "--yes")
    ours, theirs = pty.openpty()
    watching = subprocess.Popen(
        [
            str(SCRIPTS / BARNABAS),
            "groups",
            "show",
            group,
            "--watch",
            "--every",
            "0.2",
            "--server",
            groups.server,
        ],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(theirs)
    try:
        seen = _read_until(ours, "█", "█")
        assert "Ctrl-C leaves" in seen
    finally:
        watching.send_signal(signal.SIGINT)
        left = watching.wait(timeout=60)
        os.close(ours)
    assert left == 0


def _read_until(terminal: int, *marks: str) -> str:
    """What was drawn, once all marks have been seen one after the other."""
    seen = ""
    deadline = time.monotonic() + 60
    position = 0
    for mark in marks:
        while seen.find(mark, position) < 0:
            assert time.monotonic() < deadline, seen
            seen += os.read(terminal, 65536).decode(errors="replace")
        position = seen.find(mark, position) + 1
    return seen


# --- the coordinators' own topic -------------------------------------------------------------------------


def test_what_a_group_committed_can_be_read_where_it_is_kept(
    groups: Command, topic: str, broker: Broker
) -> None:
    group = f"{topic}-kept"
    groups("reset", group, f"{topic}:1", "--to", "2", "--yes")
    options = ("--bootstrap-server", broker.bootstrap, "--from-beginning")
    formatter = ("--formatter", "org.apache.kafka.tools.consumer.OffsetsMessageFormatter")
    reader = start_tool("kafka-console-consumer", *options, "--topic", "__consumer_offsets", *formatter)
    try:
        assert reader.stdout is not None
        _read_until(reader.stdout.fileno(), f'{{"group":"{group}","topic":"{topic}","partition":1}}')
    finally:
        reader.send_signal(signal.SIGINT)
        reader.communicate(timeout=60)


def test_a_pattern_never_means_the_brokers_own_topics(topic: str, run_tool: RunTool, broker: Broker) -> None:
    pattern = f"{re.escape(topic)}|__consumer_offsets"
    options = ("--from-beginning", "--max-messages", "6", "--timeout-ms", "30000")
    records = run_tool(
        "kafka-console-consumer", "--bootstrap-server", broker.bootstrap, "--include", pattern, *options
    )
    assert sorted(records.stdout.split()) == ["a", "a", "b", "b", "c", "c"]
