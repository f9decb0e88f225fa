"""The disk is Kafka's disk: its own tool reads ours, and we open what it wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.apache_kafka import ApacheKafka, run_tool
from tests.support.client import Outgoing
from tests.support.confluent_client import ConfluentClient
from tests.support.ready import create_ready_topic

from barnabas.testing import Broker

pytestmark = [pytest.mark.java, pytest.mark.usefixtures("apache_kafka_libraries")]

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
COMPLAINTS = (
    "sanity check failed",
    "Found timestamp mismatch",
    "Found out of order",
    "Mismatches in",
    "xception",
)


def test_kafkas_dump_tool_reads_our_segments_and_indexes_without_complaint(tmp_path: Path) -> None:
    with Broker(
        {"log.segment.bytes": 1_048_576, "log.index.interval.bytes": 512}, directory=tmp_path
    ) as broker:
        create_ready_topic(broker, "dumped")
        client = ConfluentClient(broker.bootstrap)
        for codec in CODECS:
            records = [Outgoing(b"%d" % n * 40, b"k%d" % n, headers=(("h", b"1"),)) for n in range(3_000)]
            client.produce("dumped", records, compression=codec, idempotent=codec == "lz4")
        folder = broker.log_dir / "dumped-0"
    files = sorted(folder.glob("*.log")) + sorted(folder.glob("*.index")) + sorted(folder.glob("*.timeindex"))
    files += sorted(folder.glob("*.snapshot"))
    assert {path.suffix for path in files} == {".log", ".index", ".timeindex", ".snapshot"}
    names = ",".join(map(str, files))
    dumped = run_tool(
        "org.apache.kafka.tools.DumpLogSegments", "--deep-iteration", "--print-data-log", "--files", names
    )
    assert dumped.returncode == 0, dumped.stderr
    for complaint in COMPLAINTS:
        assert complaint not in dumped.stdout + dumped.stderr
    assert dumped.stdout.count("| offset: ") == 3_000 * len(CODECS)
    assert dumped.stdout.count("isvalid: true") >= len(CODECS)
    assert "isvalid: false" not in dumped.stdout
    indexes = ",".join(str(path) for path in files if path.suffix == ".index")
    checked = run_tool("org.apache.kafka.tools.DumpLogSegments", "--index-sanity-check", "--files", indexes)
    assert checked.stdout.count("passed sanity check.") == indexes.count(",") + 1


def test_our_broker_opens_a_directory_that_apache_kafka_wrote(tmp_path: Path) -> None:
    written = {codec: [b"%s-%d" % (codec.encode(), n) for n in range(500)] for codec in CODECS}
    settings = {"log.segment.bytes": 1_048_576, "log.index.interval.bytes": 512}
    with ApacheKafka(settings, directory=tmp_path / "apache") as apache:
        client = ConfluentClient(apache.bootstrap)
        for codec, values in written.items():
            client.create_topic(f"moved-{codec}", partitions=2)
            client.produce(
                f"moved-{codec}", [Outgoing(value, partition=1) for value in values], compression=codec
            )
        log_dir = apache.log_dir
    with Broker({"log.dirs": log_dir}, directory=tmp_path / "ours") as broker:
        client = ConfluentClient(broker.bootstrap)
        for codec, values in written.items():
            topic = f"moved-{codec}"
            assert client.partition_count(topic) == 2
            assert [message.value for message in client.read(topic, 1, 0, 500)] == values
            assert client.produce(topic, [Outgoing(b"more", partition=1)]) == [500]
