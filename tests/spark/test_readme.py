"""The pipeline that the pages show is ten lines, the same everywhere, and runs as it stands."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from pyspark.sql import SparkSession
from tests.docs.pages import PAGES, blocks

from barnabas.client import Admin, Consumer, Producer, text
from barnabas.testing import BrokerProcess

WAIT_S = 180


def _the_ten_lines() -> str:
    shown = {block for page in PAGES for block in blocks(page, "python") if 'topic="counts"' in block}
    (example,) = shown
    return example


def test_the_pipeline_of_the_pages_is_ten_lines() -> None:
    assert len(list(filter(None, _the_ten_lines().splitlines()))) == 10


def test_the_ten_lines_run_as_they_stand(
    spark: SparkSession, target: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    greetings, counts = f"{topic}-greetings", f"{topic}-counts"
    program = _the_ten_lines().replace("localhost:9092", target.bootstrap)
    for shown, here in {
        'subscribe="greetings"': f'subscribe="{greetings}"',
        'topic="counts"': f'topic="{counts}"',
        '"checkpoints/counts"': repr(str(tmp_path / "checkpoint")),
    }.items():
        assert program.count(shown) == 1
        program = program.replace(shown, here)
    with Admin(target.bootstrap) as admin:
        admin.create_topic(greetings)
        admin.create_topic(counts)
    with Producer(target.bootstrap) as producer:
        for line in ("hello world", "hello moon"):
            producer.send(greetings, line)
    assert _run(spark, program, target, counts, 3) == {("hello", "2"), ("world", "1"), ("moon", "1")}


def _run(
    spark: SparkSession, program: str, target: BrokerProcess, topic: str, count: int
) -> set[tuple[str, str]]:
    """Until so many records are there; exactly these may be there when it has ended."""
    running = threading.Thread(target=exec, args=(program, {}))
    running.start()
    deadline = time.monotonic() + WAIT_S
    while len(_written(target, topic)) < count and running.is_alive() and time.monotonic() < deadline:
        time.sleep(0.2)
    for query in spark.streams.active:
        query.processAllAvailable()
        query.stop()
    running.join(WAIT_S)
    written = _written(target, topic)
    assert len(written) == count
    return set(written)


def _written(target: BrokerProcess, topic: str) -> list[tuple[str, str]]:
    consumer = Consumer(
        target.bootstrap,
        topic,
        start="earliest",
        until_end=True,
        key_deserialiser=text,
        value_deserialiser=text,
        isolation_level="read_committed",
    )
    with consumer:
        return [(record.key, record.value) for record in consumer]
