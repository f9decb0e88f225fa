"""The same command line on ours and on Kafka's own tool: the same lines, streams and exit codes.

Both talk to the same broker. A scenario runs on a topic of its own per tool, then the names are made equal.
What differs on purpose: descriptions in usages, stack traces, and our hint after a mistyped option.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.cli.conftest import Broker, Outcome, RunJava, RunTool, without_stack_traces

pytestmark = pytest.mark.java

CLASSES = {
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
}

# Each scenario is one story: {t} is a topic of its own, {b} the broker, {d} a directory with files.
SCENARIOS = {
    "create and describe": """
        kafka-topics {b} --create --topic {t}
        kafka-topics {b} --create --topic {t}
        kafka-topics {b} --create --topic {t} --if-not-exists
        kafka-topics {b} --describe --topic {t}
        kafka-topics {b} --list --topic {t}
        kafka-topics {b} --list --exclude-internal --topic {t}
    """,
    "create with everything": """
        kafka-topics {b} --create --topic {t} --partitions 3 --replication-factor 1 --config flush.ms=9000
        kafka-topics {b} --describe --topic {t}
        kafka-topics {b} --describe --topic {t} --topics-with-overrides
        kafka-topics {b} --describe --topic {t} --under-replicated-partitions
        kafka-topics {b} --describe --topic {t} --unavailable-partitions
        kafka-topics {b} --describe --topic {t} --under-min-isr-partitions
        kafka-topics {b} --describe --topic {t} --at-min-isr-partitions
        kafka-topics {b} --describe --topic {t} --partition-size-limit-per-response 2
    """,
    "grow and delete": """
        kafka-topics {b} --create --topic {t} --partitions 1
        kafka-topics {b} --alter --topic {t} --partitions 4
        kafka-topics {b} --alter --topic {t} --partitions 2
        kafka-topics {b} --alter --topic {t}
        kafka-topics {b} --alter --topic {t} --config retention.ms=1
        kafka-topics {b} --alter --topic {t} --delete-config retention.ms
        kafka-topics {b} --delete --topic {t}
        kafka-topics {b} --delete --topic {t}
        kafka-topics {b} --delete --topic {t} --if-exists
    """,
    "topics that are not there": """
        kafka-topics {b} --describe --topic {t}
        kafka-topics {b} --describe --topic {t} --if-exists
        kafka-topics {b} --alter --topic {t} --partitions 2
        kafka-topics {b} --alter --topic {t} --partitions 2 --if-exists
        kafka-topics {b} --describe --topic-id foo
        kafka-topics {b} --describe --topic-id AAAAAAAAAAAAAAAAAAAABQ
        kafka-configs {b} --describe --topic {t}
        kafka-configs {b} --alter --topic {t} --add-config retention.ms=1
        kafka-get-offsets {b} --topic {t}
    """,
    "impossible topics": """
        kafka-topics {b} --create --topic {t} --partitions 0
        kafka-topics {b} --create --topic {t} --partitions x
        kafka-topics {b} --create --topic {t} --replication-factor 0
        kafka-topics {b} --create --topic {t} --replication-factor 40000
        kafka-topics {b} --create --topic {t} --replica-assignment 1:1
        kafka-topics {b} --create --topic {t} --replica-assignment 1:7,1
        kafka-topics {b} --create --topic {t} --config foo
        kafka-topics {b} --create --topic {t} --config foo=bar
        kafka-topics {b} --create --topic {t} --config retention.ms=abc
        kafka-topics {b} --create --topic {t}/x
        kafka-topics {b} --list --topic [
    """,
    "settings that no topic takes": """
        kafka-topics {b} --create --topic {t} --config cleanup.policy=foo
        kafka-topics {b} --create --topic {t} --config segment.bytes=1
        kafka-topics {b} --create --topic {t} --config unclean.leader.election.enable=maybe
        kafka-topics {b} --create --topic {t} --config leader.replication.throttled.replicas=x
        kafka-topics {b} --create --topic {t} --config remote.storage.enable=true
        kafka-topics {b} --alter --topic {t} --partitions 99999999999
        kafka-topics {b} --create --topic ""
    """,
    "files that are not there, servers that are nowhere": """
        kafka-topics {b} --list --command-config {d}/missing
        kafka-configs {b} --describe --topic {t} --command-config {d}/missing
        kafka-configs {b} --alter --topic {t} --add-config-file {d}/missing
        kafka-get-offsets {b} --command-config {d}/missing
        kafka-delete-records {b} --offset-json-file {d}/good.json --command-config {d}/missing
        kafka-log-dirs {b} --describe --command-config {d}/missing
        kafka-broker-api-versions {b} --command-config {d}/missing
        kafka-leader-election {b} --election-type unclean --all-topic-partitions --command-config {d}/missing
        kafka-cluster cluster-id {b} --command-config {d}/missing
        kafka-topics {b} --list --command-config {d}/bad-number
        kafka-configs {b} --describe --topic {t} --command-config {d}/bad-number
        kafka-get-offsets --bootstrap-server 127.0.0.1:1 --command-config {d}/hasty
        kafka-log-dirs --bootstrap-server 127.0.0.1:1 --describe --command-config {d}/hasty
        kafka-cluster cluster-id --bootstrap-server 127.0.0.1:1 --command-config {d}/hasty
    """,
    "dots and underscores": """
        kafka-topics {b} --create --topic {t}a_b
        kafka-topics {b} --create --topic {t}a.b
    """,
    "mistakes on the command line": """
        kafka-topics {b} --create --describe --topic {t}
        kafka-topics {b} --create --list
        kafka-topics {b} --topic {t}
        kafka-topics {b} --create
        kafka-topics --list
        kafka-topics {b} --list --partitions 4
        kafka-topics {b} --list --config a=b
        kafka-topics {b} --create --topic {t} --if-exists
        kafka-topics {b} --describe --topics-with-overrides --unavailable-partitions
        kafka-topics {b} --create --topic {t} --replication-factor 1 --replica-assignment 1
        kafka-topics {b} --describe --if-exists
        kafka-topics {b} --topic
        kafka-topics {b} --list --topic a --topic b
    """,
    "topic settings": """
        kafka-topics {b} --create --topic {t}
        kafka-configs {b} --describe --entity-type topics --entity-name {t}
        kafka-configs {b} --alter --topic {t} --add-config flush.ms=9000,cleanup.policy=[compact,delete]
        kafka-configs {b} --describe --topic {t}
        kafka-configs {b} --describe --topic {t} --all
        kafka-configs {b} --alter --topic {t} --delete-config flush.ms
        kafka-configs {b} --alter --topic {t} --delete-config cleanup.policy --add-config-file {d}/add
        kafka-configs {b} --describe --entity-type topics --entity-name {t}
        kafka-configs {b} --alter --topic {t} --add-config retention.ms
        kafka-configs {b} --alter --topic {t} --add-config foo=bar
        kafka-configs {b} --alter --topic {t} --add-config retention.ms=abc
        kafka-configs {b} --alter --topic {t} --add-config retention.ms=1,
        kafka-configs {b} --alter --topic {t} --add-config ""
        kafka-configs {b} --alter --topic {t} --delete-config foo,flush.ms
    """,
    "mistakes of kafka-configs": """
        kafka-configs {b}
        kafka-configs {b} --describe
        kafka-configs {b} --describe --alter
        kafka-configs {b} --describe --entity-type foo
        kafka-configs {b} --describe --broker x
        kafka-configs {b} --alter --topic {t}
        kafka-configs {b} --alter --entity-type topics --add-config a=b
        kafka-configs {b} --describe --topic {t} --broker 1
        kafka-configs {b} --describe --topic {t} --add-config a=b
        kafka-configs {b} --describe --entity-type topics --entity-type topics
        kafka-configs {b} --describe --entity-type topics --topic {t}
        kafka-configs --describe --topic {t}
        kafka-configs {b} --describe --entity-type broker-loggers
        kafka-configs {b} --alter --user u --add-config foo=1
        kafka-configs {b} --alter --user u --delete-config foo,bar
        kafka-configs {b} --describe --topic ""
    """,
    "offsets": """
        kafka-topics {b} --create --topic {t} --partitions 12
        kafka-get-offsets {b} --topic {t}
        kafka-get-offsets {b} --topic {t} --time -1
        kafka-get-offsets {b} --topic {t} --time earliest
        kafka-get-offsets {b} --topic {t} --time -3
        kafka-get-offsets {b} --topic {t} --time 1000
        kafka-get-offsets {b} --topic {t} --time foo
        kafka-get-offsets {b} --topic {t} --partitions 0,2,99
        kafka-get-offsets {b} --topic {t} --partitions x
        kafka-get-offsets {b} --topic {t} --partitions 0,
        kafka-get-offsets {b} --topic-partitions {t}:0,{t}:4-6,{t}:10-
        kafka-get-offsets {b} --topic-partitions {t}:-3
        kafka-get-offsets {b} --topic-partitions {t}:x
        kafka-get-offsets {b} --topic {t} --topic-partitions {t}:0
        kafka-get-offsets {b} --topic {t} --exclude-internal-topics
        kafka-get-offsets --topic {t}
        kafka-get-offsets --bootstrap-server host --topic {t}
    """,
    "records to delete": """
        kafka-topics {b} --create --topic {t}
        kafka-delete-records {b} --offset-json-file {d}/good.json
        kafka-delete-records {b} --offset-json-file {d}/far.json
        kafka-delete-records {b} --offset-json-file {d}/twice.json
        kafka-delete-records {b} --offset-json-file {d}/bad.json
        kafka-delete-records {b} --offset-json-file {d}/version.json
        kafka-delete-records {b} --offset-json-file {d}/field.json
        kafka-delete-records {b} --offset-json-file {d}/missing.json
        kafka-delete-records {b} --offset-json-file {d}/list.json
        kafka-delete-records {b} --offset-json-file {d}/no-list.json
        kafka-delete-records {b} --offset-json-file {d}/text.json
        kafka-delete-records {b} --offset-json-file {d}/version-text.json
        kafka-delete-records {b}
    """,
    "log directories": """
        kafka-topics {b} --create --topic {t}
        kafka-log-dirs {b} --describe --topic-list {t}
        kafka-log-dirs {b} --describe --topic-list {t}-nope
        kafka-log-dirs {b} --describe --broker-list 7777
        kafka-log-dirs {b} --describe --broker-list x
        kafka-log-dirs {b} --describe --broker-list 99999999999
        kafka-log-dirs {b}
        kafka-log-dirs --describe
    """,
    "elections": """
        kafka-topics {b} --create --topic {t} --partitions 2
        kafka-leader-election {b} --election-type preferred --topic {t} --partition 0
        kafka-leader-election {b} --election-type unclean --topic {t} --partition 1
        kafka-leader-election {b} --election-type PREFERRED --topic {t} --partition 9
        kafka-leader-election {b} --election-type preferred --topic {t}-nope --partition 0
        kafka-leader-election {b} --election-type preferred --all-topic-partitions
        kafka-leader-election {b} --election-type unclean --all-topic-partitions
        kafka-leader-election {b} --election-type preferred --path-to-json-file {d}/good.json
        kafka-leader-election {b} --election-type preferred --path-to-json-file {d}/twice.json
        kafka-leader-election {b} --election-type preferred --path-to-json-file {d}/bad.json
        kafka-leader-election {b} --election-type preferred --path-to-json-file {d}/no-partitions.json
        kafka-leader-election {b} --election-type preferred --path-to-json-file {d}/no-topic.json
        kafka-leader-election {b} --election-type preferred --path-to-json-file {d}/missing.json
        kafka-leader-election {b} --election-type preferred --path-to-json-file {d}/list.json
        kafka-leader-election {b} --election-type preferred --path-to-json-file {d}/no-list.json
        kafka-leader-election {b} --admin.config {d}/add --election-type preferred --topic {t} --partition 0
    """,
    "mistakes of kafka-leader-election": """
        kafka-leader-election
        kafka-leader-election {b}
        kafka-leader-election --election-type preferred --all-topic-partitions
        kafka-leader-election {b} --election-type preferred
        kafka-leader-election {b} --election-type foo --all-topic-partitions
        kafka-leader-election {b} --election-type preferred --topic {t}
        kafka-leader-election {b} --election-type preferred --topic {t} --partition x
        kafka-leader-election {b} --election-type preferred --partition 0 --all-topic-partitions
        kafka-leader-election {b} --election-type preferred --topic {t} --partition 0 --all-topic-partitions
        kafka-leader-election {b} --admin.config {d}/add --command-config {d}/add --election-type preferred
    """,
    "the cluster": """
        kafka-cluster cluster-id {b}
        kafka-cluster cluster-id {b} --config {d}/add
        kafka-cluster list-endpoints {b}
        kafka-cluster list-endpoints {b} --include-fenced-brokers
        kafka-cluster unregister {b} --id 7777
    """,
    "API versions": """
        kafka-broker-api-versions {b}
        kafka-broker-api-versions
    """,
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_line_is_answered_as_kafka_answers_it(
    name: str, broker: Broker, prefix: str, run_tool: RunTool, run_java: RunJava, tmp_path: Path
) -> None:
    for line in SCENARIOS[name].strip().splitlines():
        answers = {}
        for who in ("ours", "java"):
            topic = f"{prefix}{who}"
            words = shlex.split(
                line.format(b=f"--bootstrap-server {broker.bootstrap}", t=topic, d=tmp_path / who)
            )
            _write_files(tmp_path / who, topic)
            outcome = run_tool(*words) if who == "ours" else run_java(CLASSES[words[0]], *words[1:])
            answers[who] = _comparable(outcome, topic, str(tmp_path / who))
        assert answers["ours"] == answers["java"], line.strip()


def test_an_unknown_option_is_answered_in_kafkas_words_and_with_a_hint(
    broker: Broker, run_tool: RunTool, run_java: RunJava
) -> None:
    words = ["--bootstrap-server", broker.bootstrap, "--lsit"]
    ours = run_tool("kafka-topics", *words)
    java = run_java(CLASSES["kafka-topics"], *words)
    assert ours.stderr.splitlines() == ["lsit is not a recognized option", "did you mean --list?"]
    assert java.stderr.splitlines()[0] == ours.stderr.splitlines()[0]
    assert (ours.code, ours.stdout) == (java.code, java.stdout)


def test_what_kafkas_tools_log_is_logged_in_their_words(
    broker: Broker, prefix: str, run_tool: RunTool, tmp_path: Path
) -> None:
    server = ("--bootstrap-server", broker.bootstrap)
    create = ("kafka-topics", *server, "--create", "--topic", prefix)
    said = run_tool(*create, "--config", "segment.bytes=1").stderr
    assert " ERROR org.apache.kafka.common.config.ConfigException: Invalid value 1 " in said
    said = run_tool(*create, "--partitions", "many").stderr
    assert " ERROR joptsimple.OptionArgumentConversionException: Cannot parse argument 'many' " in said
    said = run_tool("kafka-topics", "--bootstrap-server", "nobody.invalid:9092", "--list").stderr
    assert (
        " WARN Couldn't resolve server nobody.invalid:9092 from bootstrap.servers as DNS resolution failed "
        "for nobody.invalid (org.apache.kafka.clients.ClientUtils)\nFailed to create new KafkaAdminClient\n"
    ) in said
    (tmp_path / "me").write_text("client.id=me\ndefault.api.timeout.ms=300\n")
    said = run_tool(
        *("kafka-topics", "--bootstrap-server", "127.0.0.1:1", "--command-config", f"{tmp_path}/me", "--list")
    ).stderr
    assert " WARN [AdminClient clientId=me] Connection to node -1 (/127.0.0.1:1) could not be " in said
    run_tool(*create)
    said = run_tool("kafka-get-offsets", *server, "--topic", prefix, "--time", "-7").stderr
    assert " ERROR [AdminClient clientId=GetOffsetShell] ListOffsets request for topic partition " in said


def _comparable(outcome: Outcome, topic: str, directory: str) -> tuple[int, str, str]:
    return (
        outcome.code,
        _plain(outcome.stdout, topic, directory),
        _plain(_without_usage(without_stack_traces(outcome.stderr)), topic, directory),
    )


def _without_usage(text: str) -> str:
    """Only that there is one: its sentences are our own."""
    return re.sub(r"\n*Option +Description *\n.*", "\n<usage>", text, flags=re.DOTALL)


def _plain(text: str, topic: str, directory: str) -> str:
    text = text.replace(topic, "TOPIC").replace(directory, "DIRECTORY")
    text = re.sub(r"TopicId: \S{22}", "TopicId: ID", text)
    # Kafka prints this pair in the order of a hash set of objects, another one in every run.
    text = text.replace("[[bootstrap-server], [config]]", "[[config], [bootstrap-server]]")
    return "\n".join(_sorted_json(line) for line in text.strip().splitlines())


def _sorted_json(line: str) -> str:
    """Kafka prints the replicas of a log directory in the order of a hash map."""
    if not line.startswith('{"'):
        return line
    document = json.loads(line)
    for broker in document["brokers"]:
        for log_dir in broker["logDirs"]:
            log_dir["partitions"].sort(key=lambda row: str(row["partition"]))
    return json.dumps(document)


def _write_files(directory: Path, topic: str) -> None:
    directory.mkdir(exist_ok=True)
    (directory / "add").write_text("# two settings\nretention.ms=8000000\nsegment.ms: 7000000\n")
    row = {"topic": topic, "partition": 0, "offset": 0}
    (directory / "bad-number").write_text("request.timeout.ms=soon\n")
    (directory / "hasty").write_text("request.timeout.ms=200\ndefault.api.timeout.ms=400\n")
    documents: dict[str, object] = {
        "good": {"partitions": [row], "version": 1},
        "far": {"partitions": [row | {"offset": 99}]},
        "twice": {"partitions": [row, row]},
        "version": {"partitions": [], "version": 2},
        "field": {"partitions": [{"topic": topic, "partition": 0}]},
        "no-partitions": {"version": 1},
        "no-topic": {"partitions": [{"partition": 0}]},
        "list": [row],
        "no-list": {"partitions": {"a": 1}},
        "text": {"partitions": [row | {"offset": "1"}]},
        "version-text": {"partitions": [row], "version": "1"},
    }
    for name, document in documents.items():
        (directory / f"{name}.json").write_text(json.dumps(document))
    (directory / "bad.json").write_text("{nonsense")
