"""kafka-console-producer and kafka-console-consumer against a real broker, as people type them."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
from pathlib import Path

import pytest
from bench.apache_kafka import run_tool
from tests.cli.conftest import RunJava, without_stack_traces
from tests.cli.processes import NOWHERE, SCRIPTS, start_tool, tool

from barnabas import Admin, Consumer
from barnabas.testing import BrokerProcess, free_port

NEW_PROTOCOL = (
    "The consumer rebalance protocol (KIP-848) is production-ready! "
    "Set group.protocol=consumer to try it out. "
    "See https://kafka.apache.org/documentation/#consumer_rebalance_protocol"
)
TIMED_OUT = "org.apache.kafka.common.errors.TimeoutException"


def produce(broker: BrokerProcess, topic: str, lines: str, *options: object) -> None:
    outcome = tool(
        "kafka-console-producer",
        "--bootstrap-server",
        broker.bootstrap,
        "--topic",
        topic,
        *options,
        stdin=lines,
    )
    assert outcome.code == 0
    assert outcome.stdout == ""


def make_topic(broker: BrokerProcess, topic: str, partitions: int = 1) -> None:
    with Admin(broker.bootstrap) as admin:
        admin.create_topic(topic, partitions=partitions)


def test_lines_typed_at_one_end_come_out_at_the_other(target: BrokerProcess, topic: str) -> None:
    make_topic(target, topic)
    produce(target, topic, "hello\n\nwörld\r\nno newline")
    read = ("kafka-console-consumer.sh", "--bootstrap-server", target.bootstrap, "--topic", topic)
    outcome = tool(*read, "--from-beginning", "--max-messages", 4)
    assert outcome.code == 0
    assert outcome.stdout == "hello\n\nwörld\nno newline\n"
    assert outcome.stderr == f"{NEW_PROTOCOL}\nProcessed a total of 4 messages\n"
    silent = tool(*read, "--timeout-ms", 500)
    assert (silent.code, silent.stdout) == (0, "")
    assert silent.stderr.splitlines()[-2:] == [TIMED_OUT, "Processed a total of 0 messages"]


def test_a_new_topic_is_announced_by_the_warning_people_know(target: BrokerProcess, topic: str) -> None:
    outcome = tool(
        "kafka-console-producer", "--broker-list", target.bootstrap, "--topic", topic, stdin="first\n"
    )
    assert outcome.code == 0
    assert re.fullmatch(
        r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] WARN \[Producer clientId=console-producer\] The metadata "
        r"response from the cluster reported a recoverable issue with correlation id \d+ : "
        rf"{{{topic}=[A-Z_]+}} "
        r"\(org\.apache\.kafka\.clients\.NetworkClient\)",
        outcome.stderr.splitlines()[0],
    )
    assert [
        record.value for record in Consumer(target.bootstrap, topic, start="earliest", until_end=True)
    ] == [b"first"]


def test_keys_headers_and_nulls_make_the_round_trip(target: BrokerProcess, topic: str) -> None:
    make_topic(target, topic)
    reader = [
        "parse.key=true",
        "parse.headers=true",
        "key.separator=:",
        "headers.key.separator==",
        "null.marker=NULL",
    ]
    options = [word for pair in reader for word in ("--property", pair)]
    produce(target, topic, "h=1,n=NULL\tk:v\nh=2\tNULL:NULL\n", *options)
    shown = [
        "print.key=true",
        "print.headers=true",
        "print.offset=true",
        "print.partition=true",
        "key.separator=|",
    ]
    outcome = tool(
        "kafka-console-consumer",
        "--bootstrap-server",
        target.bootstrap,
        "--topic",
        topic,
        "--from-beginning",
        "--max-messages",
        2,
        *(word for pair in shown for word in ("--formatter-property", pair)),
    )
    assert outcome.stdout == "Partition:0|Offset:0|h:1,n:null|k|v\nPartition:0|Offset:1|h:2|null|null\n"
    assert outcome.stderr == f"{NEW_PROTOCOL}\nProcessed a total of 2 messages\n"


def test_old_spellings_are_still_understood_and_say_what_is_new(target: BrokerProcess, topic: str) -> None:
    make_topic(target, topic)
    produce(target, topic, "a\n", "--producer-property", "acks=1", "--compression-codec")
    outcome = tool(
        *("kafka-console-consumer", "--bootstrap-server", target.bootstrap, "--new-consumer"),
        *("--whitelist", f"{topic}|nothing", "--from-beginning", "--max-messages", 1),
        *("--property", "print.key=true"),
    )
    assert outcome.stdout == "null\ta\n"
    assert outcome.stderr.splitlines() == [
        "Option --property is deprecated and will be removed in a future version. "
        "Use --formatter-property instead.",
        NEW_PROTOCOL,
        "Processed a total of 1 messages",
    ]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_codec_and_sync_can_be_asked_for(target: BrokerProcess, topic: str, codec: str) -> None:
    make_topic(target, topic)
    produce(target, topic, "a\nb\n", "--compression-codec", codec, "--sync")
    values = [record.value for record in Consumer(target.bootstrap, topic, start="earliest", until_end=True)]
    assert values == [b"a", b"b"]


def test_one_partition_is_read_from_an_offset(target: BrokerProcess, topic: str) -> None:
    make_topic(target, topic, partitions=2)
    keys = "".join(f"k{number}:{number}\n" for number in range(20))
    produce(target, topic, keys, "--property", "parse.key=true", "--property", "key.separator=:")
    with Consumer(target.bootstrap, topic, start="earliest", until_end=True) as consumer:
        expected = [
            record.value.decode() for record in consumer if record.partition == 1 and record.offset >= 2
        ]
    outcome = tool(
        *("kafka-console-consumer", "--bootstrap-server", target.bootstrap, "--topic", topic),
        *("--partition", 1, "--offset", 2, "--max-messages", len(expected)),
    )
    assert outcome.stdout.split() == expected


def test_settings_come_from_files_and_the_command_line_wins(
    target: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    make_topic(target, topic)
    produce(target, topic, "a\n")
    (tmp_path / "consumer.properties").write_text("auto.offset.reset=latest\nunknown.setting=1\n")
    outcome = tool(
        *("kafka-console-consumer", "--bootstrap-server", target.bootstrap, "--topic", topic),
        *("--command-config", tmp_path / "consumer.properties", "--max-messages", 1),
        *("--command-property", "auto.offset.reset=earliest"),
    )
    assert outcome.stdout == "a\n"


def test_ctrl_c_reports_what_was_read(target: BrokerProcess, topic: str) -> None:
    make_topic(target, topic)
    produce(target, topic, "a\nb\n")
    consumer = start_tool(
        *(
            "kafka-console-consumer",
            "--bootstrap-server",
            target.bootstrap,
            "--topic",
            topic,
            "--from-beginning",
        )
    )
    assert consumer.stdout is not None
    assert [consumer.stdout.readline(), consumer.stdout.readline()] == ["a\n", "b\n"]
    consumer.send_signal(signal.SIGINT)
    _, errors = consumer.communicate(timeout=60)
    assert consumer.returncode == 130
    assert errors == f"{NEW_PROTOCOL}\nProcessed a total of 2 messages\n"


def test_a_reader_that_goes_away_ends_the_consumer(target: BrokerProcess, topic: str) -> None:
    make_topic(target, topic)
    produce(target, topic, "a\n")
    consumer = start_tool(
        *(
            "kafka-console-consumer",
            "--bootstrap-server",
            target.bootstrap,
            "--topic",
            topic,
            "--from-beginning",
        )
    )
    assert consumer.stdout is not None
    assert consumer.stdout.readline() == "a\n"
    consumer.stdout.close()
    produce(target, topic, "b\n")
    assert consumer.wait(timeout=60) == 0
    assert consumer.stderr is not None
    assert consumer.stderr.read().splitlines() == [
        NEW_PROTOCOL,
        "Unable to write to standard out, closing consumer.",
        "Processed a total of 2 messages",
    ]
    for pipe in (consumer.stderr, consumer.stdin):
        assert pipe is not None
        pipe.close()


def test_a_zookeeper_that_is_not_there_is_a_sentence() -> None:
    nobody = f"127.0.0.1:{free_port()}"
    outcome = tool("kafka-console-consumer", "--zookeeper", nobody, "--topic", "mytopic")
    assert outcome.code == 1
    first, second = outcome.stderr.splitlines()
    assert "use --bootstrap-server" in first
    assert second.startswith(f"No connection to ZooKeeper at {nobody}")


def test_the_prompt_is_for_people_at_a_terminal(target: BrokerProcess, topic: str) -> None:
    make_topic(target, topic)
    ours, theirs = pty.openpty()
    producer = subprocess.Popen(
        [SCRIPTS / "kafka-console-producer", "--bootstrap-server", target.bootstrap, "--topic", topic],
        stdin=theirs,
        stdout=theirs,
    )
    os.close(theirs)
    assert os.read(ours, 1) == b">"
    os.write(ours, b"typed\n\x04")
    assert producer.wait(timeout=60) == 0
    os.close(ours)
    assert [
        record.value for record in Consumer(target.bootstrap, topic, start="earliest", until_end=True)
    ] == [b"typed"]


@pytest.mark.java
@pytest.mark.usefixtures("apache_kafka_libraries")
def test_kafkas_own_tools_read_and_write_the_same_records(target: BrokerProcess, topic: str) -> None:
    make_topic(target, topic)
    at = ("--bootstrap-server", target.bootstrap, "--topic", topic)
    keyed = ("--reader-property", "parse.key=true", "--reader-property", "parse.headers=true")
    produce(target, topic, "h:1\tk\tours\n", *keyed)
    written = run_tool("org.apache.kafka.tools.ConsoleProducer", *at, *keyed, stdin="h:1\tk\tkafka\n")
    assert written.returncode == 0
    shown = [
        f"print.{column}=true" for column in ("timestamp", "offset", "headers", "key", "epoch", "delivery")
    ]
    options = [word for pair in shown for word in ("--formatter-property", pair)]
    read = (*at, "--partition", 0, "--offset", "earliest", "--max-messages", 2, *options)
    ours = tool("kafka-console-consumer", *read)
    kafkas = run_tool("org.apache.kafka.tools.consumer.ConsoleConsumer", *read)
    assert ours.stdout == kafkas.stdout
    assert ours.stdout.count("\n") == 2
    assert ours.stderr == kafkas.stderr


READINGS = (
    "--from-beginning --max-messages 1",
    "--from-beginning --max-messages 0",
    "--from-beginning --max-messages 1 --command-property group.protocol=consumer",
    "--from-beginning --max-messages 1 --command-property group.protocol=Classic",
    "--partition 0 --offset 1 --max-messages 1",
    "--from-beginning --max-messages 2 --formatter-property print.value=false",
    "--from-beginning --formatter-config {d}/missing",
    "--from-beginning --command-config {d}/missing",
)


@pytest.mark.java
def test_a_reading_ends_with_kafkas_lines(
    target: BrokerProcess, topic: str, run_java: RunJava, tmp_path: Path
) -> None:
    make_topic(target, topic)
    produce(target, topic, "a\nb\n")
    for reading in READINGS:
        words = ["--bootstrap-server", target.bootstrap, "--topic", topic, "--timeout-ms", "30000"]
        words += reading.format(d=tmp_path).split()
        ours = tool("kafka-console-consumer", *words)
        kafkas = run_java("org.apache.kafka.tools.consumer.ConsoleConsumer", *words)
        assert (ours.code, ours.stdout) == (kafkas.code, kafkas.stdout), reading
        assert _before_usage(ours.stderr) == _before_usage(kafkas.stderr), reading


def _before_usage(text: str) -> str:
    return without_stack_traces(text).partition("\nOption ")[0].strip()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_that_read_nothing_yet_comes_back_to_what_was_written_meanwhile(
    target: BrokerProcess, topic: str, protocol: str
) -> None:
    make_topic(target, topic, partitions=2)
    read = (
        *("kafka-console-consumer", "--bootstrap-server", target.bootstrap, "--topic", topic),
        *("--group", topic, "--command-property", f"group.protocol={protocol}"),
    )
    assert tool(*read, "--timeout-ms", 6_000).stdout == ""
    produce(target, topic, "meanwhile\n")
    assert tool(*read, "--timeout-ms", 30_000, "--max-messages", 1).stdout == "meanwhile\n"


def test_a_group_without_a_place_and_without_a_rule_is_told_so(target: BrokerProcess, topic: str) -> None:
    make_topic(target, topic)
    outcome = tool(
        *("kafka-console-consumer", "--bootstrap-server", target.bootstrap, "--topic", topic),
        *("--timeout-ms", 30_000, "--command-property", "auto.offset.reset=none"),
    )
    assert (outcome.code, outcome.stderr.splitlines()[-2]) == (
        0,
        "org.apache.kafka.clients.consumer.NoOffsetForPartitionException: "
        f"Undefined offset with no reset policy for partitions: [{topic}-0]",
    )


def test_a_rule_for_where_to_begin_that_kafka_does_not_know_is_refused() -> None:
    outcome = tool(
        *("kafka-console-consumer", "--bootstrap-server", NOWHERE, "--topic", "t"),
        *("--command-property", "auto.offset.reset=foo"),
    )
    assert (outcome.code, outcome.stderr.splitlines()[1:]) == (
        1,
        [
            "org.apache.kafka.common.config.ConfigException: Invalid value foo for configuration "
            "auto.offset.reset: Invalid value `foo` for configuration auto.offset.reset. The value must be "
            "either 'earliest', 'latest', 'none' or of the format 'by_duration:<PnDTnHnMn.nS.>'."
        ],
    )


def test_no_topic_is_made_for_a_reader_who_asks_for_none(target: BrokerProcess, topic: str) -> None:
    outcome = tool(
        *("kafka-console-consumer", "--bootstrap-server", target.bootstrap, "--topic", topic),
        *("--timeout-ms", 600, "--command-property", "allow.auto.create.topics=false"),
    )
    assert f"{{{topic}=UNKNOWN_TOPIC_OR_PARTITION}}" in outcome.stderr
    with Admin(target.bootstrap) as admin:
        assert topic not in admin.topics()


def test_bytes_that_cannot_be_shown_end_the_reading_after_the_count(
    target: BrokerProcess, topic: str
) -> None:
    make_topic(target, topic)
    produce(target, topic, "a\n")
    java = "org.apache.kafka.common.serialization.LongDeserializer"
    read = ("kafka-console-consumer", "--bootstrap-server", target.bootstrap, "--topic", topic)
    outcome = tool(*read, "--from-beginning", "--max-messages", 1, "--value-deserializer", java)
    assert outcome.code == 1
    lines = outcome.stderr.splitlines()
    assert lines[:2] == [NEW_PROTOCOL, "Processed a total of 1 messages"]
    assert lines[3].endswith("SerializationException: Size of data received by LongDeserializer is not 8")
    unknown = tool(*read, "--from-beginning", "--max-messages", 1, "--value-deserializer", "foo.Bar")
    assert (unknown.code, unknown.stdout) == (0, "a\n")
    assert unknown.stderr.splitlines()[1] == "java.lang.ClassNotFoundException: foo.Bar"


@pytest.mark.parametrize("name", ["kafka-console-producer", "kafka-console-consumer"])
def test_an_impossible_topic_is_told_in_kafkas_words(target: BrokerProcess, name: str) -> None:
    outcome = tool(name, "--bootstrap-server", target.bootstrap, "--topic", "a b", stdin="x\n")
    assert outcome.code == 0
    assert "{a b=INVALID_TOPIC_EXCEPTION}" in outcome.stderr
    assert (
        "Metadata response reported invalid topics [a b] (org.apache.kafka.clients.Metadata)"
        in outcome.stderr
    )
    nameless = tool("kafka-console-consumer", "--bootstrap-server", target.bootstrap, "--topic", "")
    assert (nameless.code, nameless.stderr.splitlines()[-1]) == (
        1,
        "java.lang.IllegalArgumentException: "
        "Topic collection to subscribe to cannot contain null or empty topic",
    )


def test_a_record_that_the_broker_refuses_has_kafkas_exception(target: BrokerProcess, topic: str) -> None:
    with Admin(target.bootstrap) as admin:
        admin.create_topic(topic, partitions=1, config={"cleanup.policy": "compact"})
    words = ("kafka-console-producer", "--bootstrap-server", target.bootstrap, "--topic", topic)
    outcome = tool(*words, stdin="no key\n")
    assert outcome.stderr.splitlines()[1].startswith("org.apache.kafka.common.InvalidRecordException: ")
    alone = tool(*words, "--command-property", "transactional.id=t", stdin="x\n")
    assert (alone.code, alone.stderr.splitlines()) == (
        1,
        [
            f"java.lang.IllegalStateException: Cannot add partition {topic}-0 to transaction before "
            "completing a call to initTransactions"
        ],
    )


def test_a_broker_that_is_not_there_is_named_on_both_sides() -> None:
    produced = tool(
        "kafka-console-producer",
        "--bootstrap-server",
        NOWHERE,
        "--topic",
        "t",
        "--max-block-ms",
        2_000,
        stdin="a\n",
    )
    assert produced.code == 0
    assert f"Connection to node -1 (/{NOWHERE}) could not be established." in produced.stderr
    assert produced.stderr.splitlines()[-1] == f"{TIMED_OUT}: Topic t not present in metadata after 2000 ms."
    consumed = tool(
        "kafka-console-consumer", "--bootstrap-server", NOWHERE, "--topic", "t", "--timeout-ms", 2_000
    )
    assert f"Bootstrap broker {NOWHERE} (id: -1 rack: null isFenced: false) disconnected" in consumed.stderr
    assert consumed.stderr.splitlines()[-2:] == [TIMED_OUT, "Processed a total of 0 messages"]


def test_a_failed_record_ends_a_synchronous_producer() -> None:
    outcome = tool(
        *(
            "kafka-console-producer",
            "--bootstrap-server",
            NOWHERE,
            "--topic",
            "t",
            "--max-block-ms",
            300,
            "--sync",
        ),
        stdin="a\nb\n",
    )
    assert outcome.code == 1
    assert outcome.stderr.splitlines()[-1] == (
        f"java.util.concurrent.ExecutionException: {TIMED_OUT}: Topic t not present in metadata after 300 ms."
    )


def test_a_record_above_the_limit_is_reported_and_the_next_one_sent(
    target: BrokerProcess, topic: str
) -> None:
    with Admin(target.bootstrap) as admin:
        admin.create_topic(topic, partitions=1, config={"max.message.bytes": 200})
    outcome = tool(
        *("kafka-console-producer", "--bootstrap-server", target.bootstrap, "--topic", topic, "--timeout", 0),
        stdin="x" * 1_000 + "\n",
    )
    assert outcome.code == 0
    first, second = outcome.stderr.splitlines()
    assert (
        f"Error when sending message to topic {topic} with key: null, value: 1000 bytes with error:" in first
    )
    assert second.startswith("org.apache.kafka.common.errors.RecordTooLargeException: ")


BOOTSTRAP = ("--bootstrap-server", "localhost:9092")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("kafka-console-producer", *BOOTSTRAP), 'Missing required argument "[topic]"'),
        (("kafka-console-producer", "--topic", "t"), "Error while validating the bootstrap address"),
        (
            ("kafka-console-producer", "--topic", "t", "--bootstrap-server", "host"),
            "Please provide valid host:port like host1:9091,host2:9092",
        ),
        (
            ("kafka-console-producer", "--topic", "t", *BOOTSTRAP, "--batch-size", "x"),
            "Cannot parse argument 'x' of option batch-size",
        ),
        (
            (
                "kafka-console-producer",
                "--topic",
                "t",
                *BOOTSTRAP,
                "--property",
                "a=b",
                "--reader-property",
                "a=b",
            ),
            "Options --reader-property and --property cannot be specified together.",
        ),
        (
            ("kafka-console-producer", "--topic", "t", *BOOTSTRAP, "--compression-codec", "x"),
            "org.apache.kafka.common.config.ConfigException: Invalid value x for configuration "
            "compression.type: String must be one of: none, gzip, snappy, lz4, zstd",
        ),
        (
            (
                *("kafka-console-producer", "--topic", "t", *BOOTSTRAP, "--request-required-acks", "1"),
                *("--command-property", "enable.idempotence=true"),
            ),
            "org.apache.kafka.common.config.ConfigException: Must set acks to all in order to use the "
            "idempotent producer. Otherwise we cannot guarantee idempotence.",
        ),
        (("kafka-console-producer", "--topic", "t", "--nope"), "nope is not a recognized option"),
        (
            ("kafka-console-consumer", *BOOTSTRAP),
            "Exactly one of the following arguments is required: [topic], [include]",
        ),
        (("kafka-console-consumer", "--topic", "t"), 'Missing required argument "[bootstrap-server]"'),
        (
            ("kafka-console-consumer", "--topic", "t", *BOOTSTRAP, "--offset", "1"),
            "The partition is required when offset is specified.",
        ),
        (
            ("kafka-console-consumer", "--topic", "t", *BOOTSTRAP, "--partition", "0", "--offset", "x"),
            "The provided offset value 'x' is incorrect. Valid values are 'earliest', 'latest', or a "
            "non-negative long.",
        ),
        (
            ("kafka-console-consumer", "--topic", "t", *BOOTSTRAP, "--partition", "0", "--group", "g"),
            "Options group and partition cannot be specified together.",
        ),
        (("kafka-console-consumer", "--topic", "t", *BOOTSTRAP, "--formatter", "a.B"), "a.B"),
        (
            (
                "kafka-producer-perf-test",
                "--topic",
                "t",
                "--num-records",
                "1",
                "--record-size",
                "1",
                "--throughput",
                "1",
                "--bootstrap-server",
                "host:x",
            ),
            "org.apache.kafka.common.KafkaException: Failed to construct kafka producer",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_in_kafkas_words(words: tuple[str, ...], complaint: str) -> None:
    outcome = tool(*words)
    assert outcome.code == 1
    assert outcome.stdout == ""
    assert outcome.stderr.splitlines()[0] == complaint
