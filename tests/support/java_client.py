"""Java's kafka-clients behind the face of the suite: one JVM per test session, JSON lines in and out."""

from __future__ import annotations

import atexit
import base64
import functools
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.apache_kafka import UnavailableError, java_command, provision
from tests.support.client import Message, Outgoing, RefusedError
from tests.support.targets import REPLICAS

_SOURCES = sorted((Path(__file__).parent / "java").glob("*.java"))
_COMPILER_TIMEOUT_S = 120


class JavaDriver:
    """The JVM. Its own log goes to a file that is shown when the JVM ends by itself."""

    def __init__(self) -> None:
        if shutil.which("javac") is None:
            raise UnavailableError("A JDK is missing: apt-get install default-jdk-headless.")
        options = ("-Xmx512m", "-XX:TieredStopAtLevel=1")
        command = [*java_command(options=options, extra_path=_classes()), "Driver"]
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed in close()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, bufsize=1
        )

    def ask(self, command: Mapping[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the Java driver ended: {self._log_text()}"
        answer = json.loads(line)
        if "error" in answer:
            raise RefusedError(answer["code"], answer["error"])
        return answer["ok"]

    def _log_text(self) -> str:
        self._log.seek(0)
        return self._log.read()[-4_000:]

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()
        self._log.close()

    def kill(self) -> None:
        """The process and every client in it are gone without a word."""
        self._process.kill()
        self.close()


@functools.cache
def _classes() -> str:
    """Compiled once per test run, removed when it ends."""
    directory = tempfile.mkdtemp(prefix="barnabas-java-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    command = ["javac", "-d", directory, "-cp", f"{provision()}/*", *map(str, _SOURCES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_COMPILER_TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    return directory


class JavaClient:
    def __init__(self, bootstrap: str, driver: JavaDriver) -> None:
        self._bootstrap = bootstrap
        self._driver = driver

    def _ask(self, what: str, **arguments: Any) -> Any:
        return self._driver.ask({"do": what, "bootstrap": self._bootstrap, **arguments})

    def produce(
        self,
        topic: str,
        records: Sequence[Outgoing],
        *,
        acks: str = "all",
        compression: str = "none",
        idempotent: bool = False,
        max_request_bytes: int | None = None,
    ) -> list[int]:
        settings = {
            "acks": acks,
            "compression.type": compression,
            "enable.idempotence": str(idempotent).lower(),
            "linger.ms": "5",
            "max.request.size": str(max_request_bytes or 1_048_576),
        }
        offsets: list[int] = self._ask(
            "produce", topic=topic, settings=settings, records=[_encode(record) for record in records]
        )
        return offsets

    def read(
        self, topic: str, partition: int, offset: int, count: int, *, partition_max_bytes: int | None = None
    ) -> list[Message]:
        settings = {
            "enable.auto.commit": "false",
            "auto.offset.reset": "none",
            "fetch.max.wait.ms": "100",
            "max.partition.fetch.bytes": str(partition_max_bytes or 1_048_576),
        }
        raw = self._ask(
            "read", topic=topic, partition=partition, offset=offset, count=count, settings=settings
        )
        assert len(raw) == count, f"only {len(raw)} of {count} records came"
        return [_decode(message) for message in raw]

    def find_offset(self, topic: str, partition: int, timestamp_ms: int) -> int:
        return int(self._ask("find_offset", topic=topic, partition=partition, timestamp_ms=timestamp_ms))

    def create_topic(self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        self._ask(
            "create_topic", topic=topic, partitions=partitions, replicas=REPLICAS, configs=dict(configs or {})
        )

    def delete_topic(self, topic: str) -> None:
        self._ask("delete_topic", topic=topic)

    def create_partitions(self, topic: str, total: int) -> None:
        self._ask("create_partitions", topic=topic, total=total)

    def partition_count(self, topic: str) -> int:
        return int(self._ask("partition_count", topic=topic))

    def topics(self) -> set[str]:
        return set(self._ask("topics"))

    def topic_config(self, topic: str) -> dict[str, str | None]:
        return dict(self._ask("topic_config", topic=topic))

    def alter_topic_config(self, topic: str, configs: Mapping[str, str]) -> None:
        self._ask("alter_topic_config", topic=topic, configs=dict(configs))

    def delete_records(self, topic: str, partition: int, before_offset: int) -> int:
        return int(self._ask("delete_records", topic=topic, partition=partition, before_offset=before_offset))

    def brokers(self) -> list[tuple[int, str, int]]:
        return [(node, host, port) for node, host, port in self._ask("brokers")]

    def log_dirs(self) -> dict[tuple[str, int], int]:
        """Bytes of every partition, by (topic, partition)."""
        (broker, _, _) = self.brokers()[0]
        return {(topic, partition): size for topic, partition, size in self._ask("log_dirs", broker=broker)}


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _encode(record: Outgoing) -> dict[str, Any]:
    return {
        "value": _text(record.value),
        "key": _text(record.key),
        "partition": record.partition,
        "timestamp_ms": record.timestamp_ms,
        "headers": [[name, _text(value)] for name, value in record.headers],
    }


def _decode(raw: Mapping[str, Any]) -> Message:
    return Message(
        raw["offset"],
        _bytes(raw["value"]),
        _bytes(raw["key"]),
        raw["timestamp_ms"],
        raw["timestamp_type"],
        tuple((name, _bytes(value)) for name, value in raw["headers"]),
    )
