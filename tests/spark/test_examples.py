"""The examples do what they say, on a real broker and a real Spark, and their output is exactly this."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.docs.pages import CHECKOUT, examples

from barnabas.client import Admin, Consumer, Producer, from_json, text
from barnabas.testing import BrokerProcess

MINUTE_MS = 60_000
START_MS = 1_699_999_980_000  # 2023-11-14T22:13:00Z
README = CHECKOUT / "examples" / "README.md"


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> Path:
    """Where the example keeps its checkpoint; it takes the session that is there."""
    return tmp_path / "checkpoint"


def _run(name: str, target: BrokerProcess, folder: Path, source: str, output: str) -> None:
    """All that is there, then it ends."""
    importlib.import_module(f"examples.{name}").main(
        [
            *("--bootstrap-server", target.bootstrap),
            *("--input", source),
            *("--output", output),
            *("--checkpoint", str(folder)),
            "--available-now",
        ]
    )


def _send(target: BrokerProcess, topic: str, records: Iterable[tuple[str, int]]) -> None:
    with Producer(target.bootstrap) as producer:
        for value, timestamp_ms in records:
            producer.send(topic, value, timestamp_ms=timestamp_ms)


def _create(target: BrokerProcess, *names: str) -> None:
    with Admin(target.bootstrap) as admin:
        for name in names:
            admin.create_topic(name, partitions=2)


def _written(target: BrokerProcess, topic: str, as_value: Any = text) -> list[tuple[str, Any]]:
    consumer = Consumer(
        target.bootstrap,
        topic,
        start="earliest",
        until_end=True,
        key_deserialiser=text,
        value_deserialiser=as_value,
        isolation_level="read_committed",
    )
    with consumer:
        return [(record.key, record.value) for record in consumer]


def test_word_count_counts_on_where_it_stopped(target: BrokerProcess, topic: str, folder: Path) -> None:
    sentences, counts = f"{topic}-sentences", f"{topic}-counts"
    _create(target, sentences, counts)
    _send(target, sentences, [("All streams lead to Kafka", START_MS), ("Hello, Kafka streams!", START_MS)])
    _run("word_count", target, folder, sentences, counts)
    first = {"all": "1", "streams": "2", "lead": "1", "to": "1", "kafka": "2", "hello": "1"}
    assert sorted(_written(target, counts)) == sorted(first.items())
    _send(target, sentences, [("kafka again", START_MS)])
    _run("word_count", target, folder, sentences, counts)
    again = [("again", "1"), ("kafka", "3")]
    assert sorted(_written(target, counts)) == sorted([*first.items(), *again])


def test_metrics_of_many_applications_become_one_feed(
    target: BrokerProcess, topic: str, folder: Path
) -> None:
    shop, bank, feed = f"metrics.{topic}-shop", f"metrics.{topic}-bank", f"{topic}-feed"
    _create(target, shop, bank, feed)

    def measured(metric: str, value: float, second: int) -> tuple[str, int]:
        return json.dumps({"metric": metric, "value": value}), START_MS + second * 1000

    _send(target, shop, [measured("latency_ms", value, second) for second, value in enumerate([10, 20, 60])])
    _send(target, shop, [measured("orders", 7, 59), measured("latency_ms", 5, 61)])
    _send(target, bank, [measured("latency_ms", 1.5, 30)])
    # Minutes end when somebody is past them; this one stays open.
    _send(target, bank, [measured("latency_ms", 2, 180)])
    _run("metrics_aggregation", target, folder, rf"metrics\.{topic}-(shop|bank)", feed)

    def row(
        application: str, metric: str, minute: int, *numbers: float
    ) -> tuple[str, str, int, tuple[float, ...]]:
        return f"{topic}-{application}/{metric}", metric, START_MS + minute * MINUTE_MS, numbers

    found = [
        (
            key,
            value["metric"],
            _milliseconds(value["minute"]),
            (value["count"], value["lowest"], value["mean"], value["highest"]),
        )
        for key, value in _written(target, feed, from_json)
    ]
    assert sorted(found) == [
        row("bank", "latency_ms", 0, 1, 1.5, 1.5, 1.5),
        row("shop", "latency_ms", 0, 3, 10, 30, 60),
        row("shop", "latency_ms", 1, 1, 5, 5, 5),
        row("shop", "orders", 0, 1, 7, 7, 7),
    ]


def test_logs_of_many_services_become_one_clean_stream(
    target: BrokerProcess, topic: str, folder: Path
) -> None:
    shop, bank, stream = f"logs.{topic}-shop", f"logs.{topic}-bank", f"{topic}-logs"
    _create(target, shop, bank, stream)
    structured = {"time": "2023-11-14T22:13:01Z", "level": "warn", "message": "slow: 3 s"}
    _send(target, shop, [(json.dumps(structured), START_MS)])
    plain = ["2023-11-14T22:13:02Z ERR could not pay", "2023-11-14T22:13:03.5Z [info]: paid", "Traceback:"]
    _send(target, bank, [(line, START_MS) for line in plain])
    _run("log_aggregation", target, folder, rf"logs\.{topic}-(shop|bank)", stream)
    found = [
        (key, value["service"], _milliseconds(value["time"]) - START_MS, value["level"], value["message"])
        for key, value in _written(target, stream, from_json)
    ]
    assert sorted(found) == [
        (f"{topic}-bank", f"{topic}-bank", 0, "UNKNOWN", "Traceback:"),
        (f"{topic}-bank", f"{topic}-bank", 2000, "ERROR", "could not pay"),
        (f"{topic}-bank", f"{topic}-bank", 3500, "INFO", "paid"),
        (f"{topic}-shop", f"{topic}-shop", 1000, "WARNING", "slow: 3 s"),
    ]


def _milliseconds(time: str) -> int:
    return round(datetime.fromisoformat(time).timestamp() * 1000)


def test_the_page_names_every_example_with_options_that_it_has() -> None:
    commands = [example.command for example in examples(README)]
    for path in sorted((CHECKOUT / "examples").glob("*.py")):
        (command,) = [one for one in commands if f"examples/{path.name}" in one]
        for option in re.findall(r"--[a-z-]+", command):
            assert f'"{option}"' in path.read_text()
