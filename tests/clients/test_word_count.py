"""Kafka Streams' own WordCount, as it comes from Maven, exactly once on a broker that is killed meanwhile."""

from __future__ import annotations

import random
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from bench.apache_kafka import UnavailableError, java_command, provision_streams
from confluent_kafka import Consumer, Producer, TopicPartition
from tests.conftest import StartTarget
from tests.support.ready import create_ready_topic
from tests.support.waiting import eventually

from barnabas.testing import BrokerProcess

INPUT, OUTPUT = "streams-plaintext-input", "streams-wordcount-output"  # the demo's own names
WORDS = ["all", "streams", "lead", "to", "kafka", "and", "kafka", "leads", "to", "streams", "exactly", "once"]
LINES = 200
PATIENCE_S = 120.0


@contextmanager
def word_count(broker: BrokerProcess, directory: Path) -> Iterator[None]:
    """The unchanged main class of kafka-streams-examples; only its configuration file is ours."""
    settings = directory / "streams.properties"
    settings.write_text(
        f"bootstrap.servers={broker.bootstrap}\n"
        "processing.guarantee=exactly_once_v2\n"
        f"state.dir={directory / 'state'}\n"
        "replication.factor=1\n"
        "commit.interval.ms=100\n"
    )
    main_class = "org.apache.kafka.streams.examples.wordcount.WordCountDemo"
    path = f"{provision_streams()}/*"
    with tempfile.TemporaryFile("w+") as log:
        command = [
            *java_command(level="WARN", options=("-Xmx512m",), extra_path=path),
            main_class,
            str(settings),
        ]
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            yield
            assert process.poll() is None, "WordCount has ended by itself"
        except AssertionError:
            log.seek(0)
            print("WordCount said:", log.read()[-6_000:])
            raise
        finally:
            process.terminate()
            process.wait(60)


class Lines:
    """Random lines, and how often each word was said in all of them."""

    def __init__(self, broker: BrokerProcess) -> None:
        settings: dict[str, Any] = {"bootstrap.servers": broker.bootstrap, "enable.idempotence": True}
        self._producer = Producer({**settings, "log_level": 0})
        self.said: Counter[str] = Counter()

    def say(self, count: int) -> None:
        for _ in range(count):
            line = random.choices(WORDS, k=5)
            self._producer.produce(INPUT, " ".join(line).encode())
            self.said.update(line)

    def flush(self) -> None:
        assert self._producer.flush(60) == 0


class Counts:
    """What a reader of committed records sees: every count of every word, in order."""

    def __init__(self, broker: BrokerProcess) -> None:
        settings: dict[str, Any] = {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "nobody",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "log_level": 0,
        }
        self._consumer = Consumer(settings)
        self._consumer.assign([TopicPartition(OUTPUT, index, 0) for index in range(2)])
        self.seen: defaultdict[str, list[int]] = defaultdict(list)

    def total(self) -> int:
        for message in self._consumer.consume(1_000, timeout=0.1):
            if message.error() is None:
                count = int.from_bytes(message.value() or b"", "big")
                self.seen[(message.key() or b"").decode()].append(count)
        return sum(map(len, self.seen.values()))

    def close(self) -> None:
        self._consumer.close()


@pytest.mark.java
@pytest.mark.timeout(300)
def test_word_count_is_exact_although_the_broker_is_killed(start_target: StartTarget, tmp_path: Path) -> None:
    try:
        provision_streams()
    except UnavailableError as missing:
        pytest.skip(str(missing))
    broker = start_target({"group.initial.rebalance.delay.ms": 0})
    for topic in (INPUT, OUTPUT):
        create_ready_topic(broker, topic, partitions=2)
    lines, counts = Lines(broker), Counts(broker)
    with word_count(broker, tmp_path):
        lines.say(LINES)
        eventually(lambda: counts.total() > 0, PATIENCE_S)
        lines.say(LINES)
        broker.kill()
        broker.start()
        lines.say(LINES)
        lines.flush()
        eventually(lambda: counts.total() >= lines.said.total(), PATIENCE_S)
    counts.total()
    counts.close()
    assert {word: max(seen) for word, seen in counts.seen.items()} == dict(lines.said)
    assert counts.seen == {word: list(range(1, total + 1)) for word, total in lines.said.items()}
