"""`barnabas demo`: what its pipeline computes is what a simple loop computes, whatever the micro-batches."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from tests.support.demo import demo

from barnabas.cli.barnabas.demo import fleet, pipeline, results, topics
from barnabas.testing import BrokerProcess

START_MS = 1_800_000_000_000  # the beginning of a window
RECORDS = "value binary, timestamp timestamp"


def _record(report: fleet.Report) -> tuple[bytes, datetime]:
    value = json.dumps(topics.value_of(report)).encode()
    return value, datetime.fromtimestamp(report.time_ms / 1000, UTC)


def _stream(
    spark: SparkSession, folder: Path, batches: Sequence[Sequence[tuple[bytes, datetime]]]
) -> DataFrame:
    """A file, and so a micro-batch, for each list of records; Spark takes the oldest file first."""
    folder.mkdir()
    for number, records in enumerate(batches):
        values, times = zip(*records, strict=True)
        columns = {
            "value": pa.array(values, pa.binary()),
            "timestamp": pa.array(times, pa.timestamp("us", "UTC")),
        }
        file = folder / f"{number}.parquet"
        parquet.write_table(pa.table(columns), file)
        os.utime(file, (number, number))
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


def test_the_whole_demo_finds_every_position_processed_exactly_once_and_draws_it(
    java: None, target: BrokerProcess, tmp_path: Path
) -> None:
    image = tmp_path / "map.png"
    size = ["--trucks", "20", "--reports", "40"]
    # Another fleet has driven here before: it is not counted again.
    for options in (["--no-pipeline"], ["--pipeline", "--image", str(image)]):
        ran = demo("--bootstrap-server", target.bootstrap, *size, *options)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "Both readers saw all 800 positions" in ran.stdout
    assert "The pipeline processed each exactly once" in " ".join(ran.stdout.split())
    assert ran.stderr == ""
    for group in topics.READS:
        assert re.search(rf"^{group} .* 0$", ran.stdout, re.MULTILINE)  # its lag
    assert image.read_bytes().startswith(b"\x89PNG")


def test_a_spark_that_does_not_start_is_told_with_its_reason(java: None, target: BrokerProcess) -> None:
    ran = demo(
        "--bootstrap-server", target.bootstrap, "--trucks", "2", "--reports", "2",
        PYSPARK_SUBMIT_ARGS="--no-such-option pyspark-shell",
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (1, "")
    assert "Spark did not start: " in ran.stdout
    assert "no-such-option" in ran.stdout
    assert "Traceback" not in ran.stdout
