"""The performance tools and kafka-dump-log, as processes, on a real broker and its files."""

from __future__ import annotations

import re
import time
from pathlib import Path

import confluent_kafka
import pytest
from tests.cli.conftest import RunJava
from tests.cli.processes import tool

from barnabas import Admin, Producer
from barnabas.testing import Broker, BrokerProcess

TOTAL = (
    r"{count} records sent, [\d.]+ records/sec \([\d.]+ MB/sec\), [\d.]+ ms avg latency, "
    r"[\d.]+ ms max latency, \d+ ms 50th, \d+ ms 95th, \d+ ms 99th, \d+ ms 99.9th\."
)


def test_the_producers_total_is_kafkas_line(target: BrokerProcess, topic: str) -> None:
    outcome = tool(
        *("kafka-producer-perf-test", "--topic", topic, "--num-records", 2_000, "--record-size", 100),
        *("--throughput", -1, "--producer-props", f"bootstrap.servers={target.bootstrap}", "acks=1"),
    )
    assert outcome.code == 0
    assert re.fullmatch(TOTAL.format(count=2000), outcome.stdout.strip())


def test_records_can_be_sent_in_transactions(target: BrokerProcess, topic: str) -> None:
    outcome = tool(
        *("kafka-producer-perf-test", "--topic", topic, "--num-records", 20, "--record-size", 10),
        *("--throughput", -1, "--bootstrap-server", target.bootstrap, "--transactional-id", f"{topic}-id"),
    )
    assert (outcome.code, outcome.stderr) == (0, "")
    assert re.fullmatch(TOTAL.format(count=20), outcome.stdout.strip())


def test_the_consumers_header_comes_before_what_is_wrong(tmp_path: Path) -> None:
    words = ("kafka-consumer-perf-test", "--bootstrap-server", "x:1", "--topic", "t", "--num-records", 1)
    for more in (("--reporting-interval", 0), ("--command-config", tmp_path / "missing")):
        outcome = tool(*words, *more)
        assert (outcome.code, outcome.stdout.partition(",")[0]) == (1, "start.time")


def test_the_consumers_table_counts_every_record(target: BrokerProcess, topic: str) -> None:
    with Admin(target.bootstrap) as admin, Producer(target.bootstrap) as producer:
        admin.create_topic(topic, partitions=2)
        for _ in range(1_000):
            producer.send(topic, "x" * 100)
    outcome = tool(
        *(
            "kafka-consumer-perf-test",
            "--bootstrap-server",
            target.bootstrap,
            "--topic",
            topic,
            "--messages",
            1_000,
        )
    )
    header, row = outcome.stdout.splitlines()
    assert header == (
        "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, "
        "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
    )
    columns = row.split(", ")
    assert (columns[2], columns[4]) == ("0.0954", "1000")
    again = tool(
        *("kafka-consumer-perf-test", "--bootstrap-server", target.bootstrap, "--topic", topic),
        *("--num-records", 1_000, "--group", topic, "--hide-header"),
    )
    assert again.stdout.split(", ")[4] == "1000"
    committed = tool(
        *("kafka-consumer-groups", "--bootstrap-server", target.bootstrap, "--describe", "--group", topic)
    )
    lags = [line.split()[5] for line in committed.stdout.splitlines() if line.startswith(topic)]
    assert lags == ["0", "0"]
    assert outcome.stderr == "Warning: --messages is deprecated. Use --num-records instead.\n"


def test_too_few_records_are_a_warning_after_the_timeout(target: BrokerProcess, topic: str) -> None:
    with Admin(target.bootstrap) as admin:
        admin.create_topic(topic, partitions=1)
    outcome = tool(
        *("kafka-consumer-perf-test", "--bootstrap-server", target.bootstrap, "--topic", topic),
        *("--num-records", 5, "--timeout", 300, "--hide-header"),
    )
    assert outcome.stdout.splitlines()[0] == (
        "WARNING: Exiting before consuming the expected number of records: timeout (300 ms) exceeded. "
        "You can use the --timeout option to increase the timeout."
    )


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--record-size", 0, "--throughput", 1), "--record-size should be greater than zero."),
        (("--record-size", 10), "argument --throughput is required"),
        (
            ("--throughput", 1),
            "one of the arguments --record-size --payload-file --payload-monotonic is required",
        ),
    ],
)
def test_an_impossible_test_is_refused_with_the_usage(options: tuple[object, ...], complaint: str) -> None:
    outcome = tool("kafka-producer-perf-test", "--topic", "t", "--num-records", 1, *options)
    assert outcome.code == 1
    assert outcome.stderr.startswith("usage: kafka-producer-perf-test\n")
    assert outcome.stderr.splitlines()[-1] == f"kafka-producer-perf-test: error: {complaint}"


def make_segments(directory: Path) -> list[Path]:
    """A partition with several segments, every codec, keys and headers and nulls; its files."""
    settings = {"log.segment.bytes": 1_048_576, "log.index.interval.bytes": 512}
    with Broker(settings, directory=directory) as broker, Admin(broker.bootstrap) as admin:
        admin.create_topic("dumped", partitions=1)
        for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
            with Producer(broker.bootstrap, compression_type=codec, batch_size=20_000) as producer:
                for number in range(600):
                    key = None if number % 7 == 0 else f"k{number}é"
                    value = None if number % 11 == 0 else f"{number:064d}" * 10
                    producer.send("dumped", value, key=key, headers={"h": "1"} if number % 5 == 0 else None)
        folder = broker.log_dir / "dumped-0"
    kinds = (".log", ".index", ".timeindex", ".snapshot")
    return sorted(path for path in folder.iterdir() if path.suffix in kinds)


def test_our_own_files_are_dumped_without_complaint(tmp_path: Path) -> None:
    files = make_segments(tmp_path)
    outcome = tool("kafka-dump-log", "--files", ",".join(map(str, files)), "--print-data-log")
    assert (outcome.code, outcome.stderr) == (0, "")
    offsets = re.findall(r"^\| offset: (\d+) ", outcome.stdout, re.MULTILINE)
    assert [int(offset) for offset in offsets] == list(range(3_000))
    assert outcome.stdout.count("isvalid: false") == 0


@pytest.mark.java
def test_the_dump_is_kafkas_own_line_for_line(tmp_path: Path, run_java: RunJava) -> None:
    names = ",".join(map(str, make_segments(tmp_path)))
    for options in ((), ("--print-data-log",), ("--deep-iteration",), ("--verify-index-only",)):
        ours = tool("kafka-dump-log", "--files", names, *options)
        kafkas = run_java("org.apache.kafka.tools.DumpLogSegments", "--files", names, *options)
        assert ours.stdout.splitlines() == kafkas.stdout.splitlines()


def use_groups_and_transactions(bootstrap: str) -> None:
    """A group of each protocol that reads and leaves, offsets in a transaction, and one that is aborted."""
    with Admin(bootstrap) as admin:
        admin.create_topic("read", partitions=2)
    for protocol in ("classic", "consumer"):
        config = {"bootstrap.servers": bootstrap, "group.id": protocol, "group.protocol": protocol}
        consumer = confluent_kafka.Consumer({**config, "auto.offset.reset": "earliest"})
        consumer.subscribe(["read"])
        deadline = time.monotonic() + 60
        while not consumer.assignment() and time.monotonic() < deadline:
            consumer.poll(0.1)
        parts = [confluent_kafka.TopicPartition("read", 0, 0, "done so far", 0)]
        consumer.commit(offsets=parts, asynchronous=False)
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": bootstrap, "transactional.id": f"{protocol}-id"}
        )
        producer.init_transactions(60)
        producer.begin_transaction()
        producer.produce("read", "kept", partition=1)
        producer.send_offsets_to_transaction(
            [confluent_kafka.TopicPartition("read", 1, 7)], consumer.consumer_group_metadata(), 60
        )
        producer.commit_transaction(60)
        producer.begin_transaction()
        producer.produce("read", "lost", partition=0)
        producer.abort_transaction(60)
        consumer.close()


@pytest.mark.java
def test_kafka_reads_the_coordinators_logs_and_we_show_the_same(tmp_path: Path, run_java: RunJava) -> None:
    with Broker(directory=tmp_path) as broker:
        use_groups_and_transactions(broker.bootstrap)
        folder = broker.log_dir
    decoders = {"__consumer_offsets": "--offsets-decoder", "__transaction_state": "--transaction-log-decoder"}
    for topic, decoder in decoders.items():
        written = sorted(path for path in folder.glob(f"{topic}-*/*.log") if path.stat().st_size)
        names = ",".join(map(str, written))
        ours = tool("kafka-dump-log", "--files", names, decoder)
        kafkas = run_java("org.apache.kafka.tools.DumpLogSegments", "--files", names, decoder)
        assert ours.stdout.splitlines() == kafkas.stdout.splitlines()
        assert '"version":"' in ours.stdout
        assert "skipping" not in ours.stdout


def test_a_missing_file_and_a_decoder_that_is_not_there_yet_are_one_sentence(tmp_path: Path) -> None:
    missing = tool("kafka-dump-log", "--files", tmp_path / "00000000000000000000.log")
    assert (missing.code, missing.stderr.splitlines()[0].split(":")[0]) == (
        1,
        "java.nio.file.NoSuchFileException",
    )
    later = tool("kafka-dump-log", "--files", "x.log", "--cluster-metadata-decoder")
    assert (later.code, len(later.stderr.splitlines())) == (1, 1)
