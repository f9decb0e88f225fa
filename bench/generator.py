"""The raw-socket load generator: compiled once per source, run as a process of its own."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.compiling import compiled

SOURCE = Path(__file__).with_name("generator.c")


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run of a generator saw."""

    seconds: float
    requests: int
    records: int
    bytes: int
    p50_us: float
    p99_us: float
    p999_us: float
    max_us: float
    sent_late_p99_us: float  # how late requests left that were due at a time: the generator's own share
    answered_p99_us: float  # from there to the answer
    windows_p99_us: list[float]  # of each whole half second, with a rate


class Running:
    """A generator at work in the background."""

    def __init__(self, arguments: list[object]) -> None:
        self._process = subprocess.Popen(
            [str(compiled(SOURCE)), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def is_running(self) -> bool:
        return self._process.poll() is None

    def result(self, timeout_s: float = 900.0) -> Measured:
        out, err = self._process.communicate(timeout=timeout_s)
        if self._process.returncode != 0:
            raise RuntimeError(f"the load generator failed: {err.strip()}")
        return Measured(**json.loads(out))

    def stop(self) -> Measured:
        """What it saw until now."""
        if self.is_running():
            self._process.terminate()
        return self.result()

    def close(self) -> None:
        """Whatever it saw."""
        if self.is_running():
            self._process.terminate()
        self._process.wait()


@dataclass(frozen=True, slots=True)
class ProduceLoad:
    """Produce requests; it ends at the first of `seconds` and `bytes_max` (0: no limit)."""

    record_bytes: int
    records_per_batch: int = 1
    connections: int = 1
    in_flight: int = 1
    acks: int = 1
    partitions: int = 1
    seconds: float = 3.0
    bytes_max: int = 0
    requests_per_second: int = 0
    keys: int = 0

    def start(self, port: int, topic: str) -> Running:
        head: list[object] = ["produce", port, topic, self.partitions, self.connections, self.record_bytes]
        shape: list[object] = [self.records_per_batch, self.in_flight, self.acks]
        limits: list[object] = [self.seconds, self.bytes_max, self.requests_per_second, self.keys]
        return Running(head + shape + limits)

    def run(self, port: int, topic: str) -> Measured:
        return self.start(port, topic).result()


@dataclass(frozen=True, slots=True)
class FetchLoad:
    """Fetch requests from the start of the topic, again and again; ends at `seconds` or `bytes_max`."""

    fetch_bytes: int
    seconds: float = 3.0
    bytes_max: int = 1 << 62
    connections: int = 1
    partitions: int = 1
    isolation_level: int = 0

    def start(self, port: int, topic: str) -> Running:
        return Running(
            [
                "fetch",
                port,
                topic,
                self.partitions,
                self.connections,
                self.fetch_bytes,
                self.seconds,
                self.bytes_max,
                self.isolation_level,
            ]
        )

    def run(self, port: int, topic: str) -> Measured:
        return self.start(port, topic).result()
