"""`barnabas demo`: what its pipeline computes is what a simple loop computes, whatever the micro-batches."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from barnabas.cli.barnabas.demo import fleet, pipeline, results, topics
from barnabas.testing import BrokerProcess, free_port

START_MS = 1_800_000_000_000  # the beginning of a window
RECORDS = "value binary, timestamp timestamp"


def _record(report: fleet.Report) -> tuple[bytes, datetime]:
    value = json.dumps(topics.value_of(report)).encode()
    return value, datetime.fromtimestamp(report.time_ms / 1000, UTC)


def _stream(
    spark: SparkSession, folder: Path, batches: Sequence[Sequence[tuple[bytes, datetime]]]
) -> DataFrame:
    """A micro-batch for each list of records."""
    for batch in batches:
        frame = spark.createDataFrame(list(batch), RECORDS)
        frame.coalesce(1).write.mode("append").parquet(str(folder))
    return spark.readStream.schema(RECORDS).option("maxFilesPerTrigger", 1).parquet(str(folder))


def _collected(stream: DataFrame, folder: Path, output_mode: str = "append") -> list[list[dict[str, str]]]:
    """The rows of each micro-batch."""
    collected: list[list[dict[str, str]]] = []
    query = (
        stream.writeStream.foreachBatch(
            lambda frame, _: collected.append([r.asDict() for r in frame.collect()])
        )
        .outputMode(output_mode)
        .option("checkpointLocation", str(folder))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(120)
    return [rows for rows in collected if rows]


def test_speeds_and_stops_are_those_of_a_loop_although_batches_cut_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    reports = list(fleet.reports(5, 90, START_MS))
    # Cut in the middle of stops, and with the rows of a batch in no order.
    parts = [reports[:1], reports[1:203][::-1], reports[203:]]
    stream = _stream(spark, tmp_path / "in", [[_record(one) for one in part] for part in parts])
    moves = pipeline.moves(pipeline.positions(stream))
    batches = _collected(pipeline.speed_and_stop_records(moves), tmp_path / "checkpoint")
    assert len(batches) == 3
    found = results.Results()
    for row in (row for batch in batches for row in batch):
        value = json.loads(row["value"])
        assert row["key"] == value["truck"]
        found.add(row["topic"], value)
    wanted = results.expected(reports)
    assert wanted.stops.total() > 5
    # There is no summary here to agree with.
    found.windows[0] = results.Window(0, len(reports), wanted.distance_m, 0, 0, 0.0, 0.0)
    assert list(results.faults(found, wanted)) == []
    assert min(found.speeds["truck-0001"]).speed_kmh is None


def _speed(second: int, metres: int, kmh: float | None) -> tuple[bytes, datetime]:
    time = datetime.fromtimestamp(START_MS / 1000 + second, UTC)
    value = {"time": time.isoformat(), "distance_m": metres, "standing": kmh is not None and kmh < 5}
    return json.dumps(value | ({} if kmh is None else {"speed_kmh": kmh})).encode(), time


def test_a_window_is_summed_up_and_written_again_when_it_grows(spark: SparkSession, tmp_path: Path) -> None:
    first = [_speed(0, 0, None), _speed(20, 300, 54.0), _speed(299, 2, 0.4)]
    second = [_speed(40, 400, 72.0), _speed(300, 500, 90.0)]
    stream = _stream(spark, tmp_path / "in", [first, second])
    batches = _collected(pipeline.summary_records(stream), tmp_path / "checkpoint", "update")
    keys = ["2027-01-15 08:00:00", "2027-01-15 08:05:00"]
    assert [sorted(row["key"] for row in batch) for batch in batches] == [keys[:1], keys]
    found = results.Results()
    for row in (row for batch in batches for row in batch):
        found.add(topics.SUMMARY, json.loads(row["value"]))
    assert sorted(found.windows.values()) == [
        results.Window(START_MS, 4, 702, 2, 1, 63.0, 72.0),
        results.Window(START_MS + 300_000, 1, 500, 1, 0, 90.0, 90.0),
    ]


def _demo(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("barnabas"), "demo", "--seconds", "0", *arguments],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        env={**os.environ, **environment},
    )


def test_the_whole_demo_finds_every_position_processed_exactly_once_and_draws_it(
    java: None, target: BrokerProcess, tmp_path: Path
) -> None:
    image = tmp_path / "map.png"
    size = ["--trucks", "20", "--reports", "40"]
    # Another fleet has driven here before: it is not counted again.
    for options in (["--no-pipeline"], ["--pipeline", "--image", str(image)]):
        ran = _demo("--bootstrap-server", target.bootstrap, *size, *options)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "Both readers saw all 800 positions" in ran.stdout
    assert "The pipeline processed each exactly once" in " ".join(ran.stdout.split())
    assert ran.stderr == ""
    for group in topics.READS:
        assert re.search(rf"^{group} .* 0$", ran.stdout, re.MULTILINE)  # its lag
    assert image.read_bytes().startswith(b"\x89PNG")


def test_without_java_the_demo_says_what_to_install_and_shows_the_rest() -> None:
    without = {"PATH": "/nowhere", "JAVA_HOME": ""}
    advice = "needs Java 17 or newer, and none was found: apt-get install default-jre-headless"
    ran = _demo("--trucks", "5", "--reports", "3", **without)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Both readers saw all 15 positions" in ran.stdout
    assert advice in " ".join(ran.stdout.split())
    insisted = _demo("--trucks", "5", "--reports", "3", "--pipeline", **without)
    assert insisted.returncode == 1
    assert advice in " ".join(insisted.stdout.split())
    assert "trucks report" not in insisted.stdout  # it says so before it starts


def test_a_broker_that_is_not_there_is_one_sentence() -> None:
    server = f"127.0.0.1:{free_port()}"
    ran = _demo("--bootstrap-server", server, "--no-pipeline")
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout == f"No broker answers at {server}: start one with `barnabas run`.\n"
