"""The tools for groups and transactions beside Kafka's own: the same lines, streams and exit codes.

Both talk to the same broker, each about a topic and a group of its own; where members read, both ask about
the same group. What differs on purpose: usages, stack traces, our hint after a mistyped option, and the order
of rows, which in Kafka is that of its hash tables.
"""

from __future__ import annotations

import importlib
import io
import re
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from tests.cli.conftest import Broker, Outcome, RunJava, without_stack_traces

pytestmark = pytest.mark.java

CLASSES = {
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-groups": "org.apache.kafka.tools.GroupsCommand",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
}
GROUPS = "kafka-consumer-groups"

# {t} is a topic of three partitions with ten records each, {g} a group, {b} the broker, {d} a directory;
# `reset` stands for kafka-consumer-groups {b} --reset-offsets --group.
SCENARIOS = {
    "a group begins where it is put": """
        kafka-consumer-groups {b} --describe --group {g}
        reset {g} --topic {t} --to-earliest --execute
        kafka-consumer-groups {b} --describe --group {g}
        kafka-consumer-groups {b} --describe --group {g} --offsets --verbose
        kafka-consumer-groups {b} --describe --group {g} --members
        kafka-consumer-groups {b} --describe --group {g} --members --verbose
        kafka-consumer-groups {b} --describe --group {g} --state
        kafka-consumer-groups {b} --describe --group {g} --state --verbose
        kafka-consumer-groups {b} --describe --group {g} --group {g}-nope
        kafka-consumer-groups {b} --delete --group {g}
        kafka-consumer-groups {b} --delete --group {g}
        kafka-consumer-groups {b} --delete --group {g} --group {g}-nope
    """,
    "every way to move": """
        reset {g} --topic {t}:0,2 --to-offset 4 --execute
        reset {g} --all-topics --to-latest --dry-run
        reset {g} --all-topics --to-earliest
        reset {g} --topic {t} --to-current --dry-run
        reset {g} --topic {t}:0 --shift-by 3 --execute
        reset {g} --topic {t} --shift-by -1 --dry-run
        reset {g} --topic {t}:0 --shift-by -99 --dry-run
        reset {g} --topic {t} --to-offset 99 --dry-run
        reset {g} --topic {t} --by-duration PT1H --dry-run
        reset {g} --topic {t} --by-duration PT0S --dry-run
        reset {g} --topic {t} --to-datetime 2020-01-01T00:00:00.000 --dry-run
        reset {g} --topic {t} --to-datetime 2099-01-01T00:00:00.000+01:00 --dry-run
        reset {g} --all-topics --to-earliest --dry-run --export
        reset {g} --group {g}2 --topic {t}:1 --to-latest --dry-run --export
        reset {g} --from-file {d}/plan.csv --execute
        kafka-consumer-groups {b} --describe --group {g}
    """,
    "resets that cannot be": """
        reset {g} --to-latest --dry-run
        reset {g} --topic {t}-nope --to-latest --dry-run
        reset {g} --topic {t}:7 --to-latest --dry-run
        reset {g} --topic {t}:x --to-latest --dry-run
        reset {g} --topic {t}:0:1 --to-latest --dry-run
        reset {g} --topic {t} --to-offset x --dry-run
        reset {g} --topic {t} --by-duration soon --dry-run
        reset {g} --topic {t} --to-datetime 2020-01-01 --dry-run
        reset {g} --topic {t} --to-datetime 2020-01-01T00:00:00 --dry-run
        reset {g} --from-file {d}/missing.csv --dry-run
        reset {g} --from-file {d}/elsewhere.csv --dry-run
        reset {g} --all-topics --to-latest --dry-run
    """,
    "offsets are forgotten": """
        kafka-consumer-groups {b} --delete-offsets --group {g} --topic {t}
        reset {g} --topic {t} --to-earliest --execute
        kafka-consumer-groups {b} --delete-offsets --group {g} --topic {t}:0,7
        kafka-consumer-groups {b} --delete-offsets --group {g} --topic {t}-nope
        kafka-consumer-groups {b} --describe --group {g}
        kafka-consumer-groups {b} --delete-offsets --group {g} --topic {t}
    """,
    "mistakes on the command line": """
        kafka-consumer-groups {b}
        kafka-consumer-groups --list
        kafka-consumer-groups {b} --describe --group {g} --all-groups
        kafka-consumer-groups {b} --describe --group {g} --state Stable
        kafka-consumer-groups {b} --list --group {g}
        kafka-consumer-groups {b} --list --members
        kafka-consumer-groups {b} --delete --group {g} --topic {t}
        kafka-consumer-groups {b} --reset-offsets --dry-run --execute
        kafka-consumer-groups {b} --list --timeout x
        kafka-consumer-groups {b} --list --command-config {d}/missing
        kafka-consumer-groups --bootstrap-server nowhere --list
        kafka-consumer-groups --validate-regex a.*b
        kafka-consumer-groups --validate-regex a(b
        kafka-groups {b}
        kafka-groups --list
        kafka-groups {b} --list --consumer --share
        kafka-groups {b} --list --group-type foo
        kafka-groups {b} --list --share
        kafka-groups {b} --list --protocol {g}
    """,
    "transactions nobody made": """
        kafka-transactions {b} list --transactional-id-pattern {g}.*
        kafka-transactions {b} describe --transactional-id {g}
        kafka-transactions {b} describe-producers --topic {t} --partition 0
        kafka-transactions {b} describe
        kafka-transactions {b} find-hanging
        kafka-transactions {b} find-hanging --partition 0
        kafka-transactions {b} find-hanging --topic {t}
        kafka-transactions {b} find-hanging --topic {t}-nope
        kafka-transactions {b} abort --topic {t} --partition 0
        kafka-transactions {b} abort --topic {t} --partition 0 --start-offset 3
        kafka-transactions {b} abort --topic {t} --partition 0 --producer-id 3
        kafka-transactions {b} abort --topic {t} --partition 0 --producer-id 3 --producer-epoch 0
        kafka-transactions {b}
        kafka-transactions list
        kafka-transactions {b} list --duration-filter x
        kafka-transactions {b} list --foo
        kafka-transactions {b} --command-config {d}/missing list
    """,
}  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_line_is_answered_as_kafka_answers_it(
    name: str, broker: Broker, prefix: str, run_java: RunJava, tmp_path: Path
) -> None:
    for who in ("ours", "java"):
        run_tool(
            "kafka-topics", *_server(broker), "--create", "--topic", f"{prefix}{who}", "--partitions", "3"
        )
        _fill(broker, f"{prefix}{who}")
    for line in SCENARIOS[name].strip().splitlines():
        answers = {}
        for who in ("ours", "java"):
            topic, directory = f"{prefix}{who}", tmp_path / who
            directory.mkdir(exist_ok=True)
            (directory / "plan.csv").write_text(f"{topic},0,2\n{topic},1,99\n")
            (directory / "elsewhere.csv").write_text(f"{topic}-nope,0,2\n")
            line = line.replace("reset {g}", "kafka-consumer-groups {b} --reset-offsets --group {g}")
            filled = line.format(b=" ".join(_server(broker)), t=topic, g=f"{topic}-g", d=directory)
            outcome = _run(shlex.split(filled), who, run_java)
            answers[who] = _comparable(outcome, topic, str(directory))
        assert answers["ours"] == answers["java"], line.strip()


def _server(broker: Broker) -> list[str]:
    return ["--bootstrap-server", broker.bootstrap]


def run_tool(*words: str) -> Outcome:
    """Ours in this process: both then answer without the time an interpreter needs to start."""
    module = importlib.import_module(f"barnabas.cli.{words[0].replace('-', '_')}")
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = module.main(words[1:])
        except SystemExit as left:
            code = left.code
    return Outcome(code, out.getvalue(), err.getvalue())


def _run(words: list[str], who: str, run_java: RunJava) -> Outcome:
    return run_tool(*words) if who == "ours" else run_java(CLASSES[words[0]], *words[1:])


def _fill(broker: Broker, topic: str) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(30):
        producer.produce(topic, str(number), partition=number % 3)
    assert producer.flush(60) == 0


def _comparable(outcome: Outcome, topic: str = "", directory: str = "") -> tuple[int, list[str], list[str]]:
    return (
        outcome.code,
        _plain(outcome.stdout, topic, directory),
        _plain(without_stack_traces(outcome.stderr), topic, directory),
    )


def _plain(text: str, topic: str, directory: str) -> list[str]:
    for name, stands_for in ((topic, "TOPIC"), (directory, "DIRECTORY")):
        text = text.replace(name, stands_for) if name else text
    text = re.sub(r"\n*Option (?:\(\* = required\))? +Description *\n.*", "\n<usage>", text, flags=re.DOTALL)
    text = re.sub(r"joptsimple\.\w+: |java\.lang\.IllegalArgumentException: .*\n?", "", text)
    if text.startswith("usage:"):
        text = re.sub(r"\s+", " ", text)  # Kafka breaks and justifies these lines
    return sorted(_same_width(line) for line in text.splitlines())


def _same_width(line: str) -> str:
    """Durations and moments pass between two questions."""
    return re.sub(r"\b\d{13}\b", "MOMENT", line)


# --- members ---------------------------------------------------------------------------------------------

Members = Callable[..., None]


@pytest.fixture
def members(broker: Broker) -> Iterator[Members]:
    """Starts consumers and waits until they have their partitions; they leave at the end."""
    running: list[Consumer] = []

    def start(group: str, topic: str, count: int, **settings: str) -> None:
        for number in range(count):
            config = {
                "bootstrap.servers": broker.bootstrap,
                "group.id": group,
                "client.id": f"client-{number}",
                "auto.offset.reset": "earliest",
                # Committed below, once: nothing may change between two questions.
                "enable.auto.commit": "false",
                **{key: value.replace("N", str(number)) for key, value in settings.items()},
            }
            consumer = Consumer(config)
            running.append(consumer)
            consumer.subscribe([topic])
        deadline = time.monotonic() + 90
        while not _have_shared(running):
            assert time.monotonic() < deadline, [consumer.assignment() for consumer in running]
            for consumer in running:
                consumer.poll(0.05)
        for consumer in running:
            consumer.commit(offsets=[_third(one) for one in consumer.assignment()[:1]], asynchronous=False)
            consumer.pause(consumer.assignment())

    yield start
    for consumer in running:
        consumer.close()


def _third(partition: TopicPartition) -> TopicPartition:
    return TopicPartition(partition.topic, partition.partition, 3)


def _have_shared(consumers: list[Consumer]) -> bool:
    """Each has partitions, and none is another's: who had some before the others came has given them up."""
    owned = [[one.partition for one in consumer.assignment()] for consumer in consumers]
    return all(owned) and len(set().union(*owned)) == sum(map(len, owned))


QUESTIONS = (
    "--describe --group {g}",
    "--describe --group {g} --offsets --verbose",
    "--describe --group {g} --members",
    "--describe --group {g} --members --verbose",
    "--describe --group {g} --state",
    "--describe --group {g} --state --verbose",
    "--reset-offsets --group {g} --all-topics --to-latest --execute",
    "--delete-offsets --group {g} --topic {t}",
    "--delete --group {g}",
)


KINDS = {
    "classic": {},
    "static": {"group.instance.id": "instance-N"},
    "consumer": {"group.protocol": "consumer"},
    "static consumer": {"group.protocol": "consumer", "group.instance.id": "instance-N"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_with_members_is_shown_as_kafka_shows_it(
    kind: str, broker: Broker, prefix: str, members: Members, run_java: RunJava
) -> None:
    topic, group = f"{prefix}live", f"{prefix}readers"
    run_tool("kafka-topics", *_server(broker), "--create", "--topic", topic, "--partitions", "3")
    _fill(broker, topic)
    members(group, topic, 2, **KINDS[kind])
    for question in QUESTIONS:
        words = [GROUPS, *_server(broker), *shlex.split(question.format(g=group, t=topic))]
        assert _comparable(run_tool(*words)) == _comparable(run_java(CLASSES[GROUPS], *words[1:])), question
    words = [*_server(broker), "--list", "--state", "Stable", "--type"]
    outcomes = [run_tool(GROUPS, *words), run_java(CLASSES[GROUPS], *words)]
    listed = [_only(f"^{group} ", outcome.stdout) for outcome in outcomes]
    assert listed[0] == listed[1]
    assert listed[0][0].split() == [group, "Consumer" if "consumer" in kind else "Classic", "Stable"]


def _only(pattern: str, text: str) -> list[str]:
    """The group's own line; how wide its first column is depends on who else is there."""
    return [re.sub(r" +", " ", line) for line in text.splitlines() if re.match(pattern, line)]


# --- transactions ----------------------------------------------------------------------------------------

OPEN_TRANSACTION = """
    list --transactional-id-pattern {t}
    list --transactional-id-pattern {t} --duration-filter 3600000
    describe --transactional-id {t}
    describe-producers --topic {t} --partition 1
    describe-producers --topic {t} --partition 1 --broker-id 1
    find-hanging --topic {t} --max-transaction-timeout -1
    abort --topic {t} --partition 1 --start-offset 7
    abort --topic {t} --partition 1 --start-offset 0
    describe-producers --topic {t} --partition 1
    abort --topic {t} --partition 1 --start-offset 0
    forceTerminateTransaction --transactionalId {t}
    list --transactional-id-pattern {t}
    describe-producers --topic {t} --partition 1
"""


def test_an_open_transaction_is_shown_as_kafka_shows_it_and_ended(
    broker: Broker, prefix: str, run_java: RunJava
) -> None:
    for who in ("ours", "java"):
        run_tool(
            "kafka-topics", *_server(broker), "--create", "--topic", f"{prefix}{who}", "--partitions", "2"
        )
    producers = [_open_transaction(broker, f"{prefix}{who}") for who in ("ours", "java")]
    for line in OPEN_TRANSACTION.strip().splitlines():
        answers = []
        for who in ("ours", "java"):
            words = shlex.split(line.format(t=f"{prefix}{who}"))
            outcome = _run(["kafka-transactions", *_server(broker), *words], who, run_java)
            answers.append(_comparable_transaction(outcome, f"{prefix}{who}"))
        assert answers[0] == answers[1], line.strip()
    del producers


def _open_transaction(broker: Broker, name: str) -> Producer:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": name})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, "open", partition=1)
    assert producer.flush(60) == 0
    return producer


def _comparable_transaction(outcome: Outcome, topic: str) -> tuple[int, list[list[str]], list[str]]:
    """Cells without their padding; ids of producers and durations are each run's own."""
    titles, *rows = [[cell.strip() for cell in line.split("\t")] for line in outcome.stdout.splitlines()] or [
        []
    ]
    for row in rows:
        for title in {"ProducerId", "TransactionDurationMs"} & set(titles):
            row[titles.index(title)] = title
    plain = [[_same_width(cell.replace(topic, "TOPIC")) for cell in row] for row in (titles, *rows)]
    return outcome.code, plain, _plain(outcome.stderr, topic, "")
