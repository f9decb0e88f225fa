"""What clients in processes of their own reach, from the first record sent to the last one delivered.

A client says when it began and when it was done, by the machine's monotonic clock, so that its start-up does
not count and two of them can be put together.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

# ("produce" or "consume", bootstrap, topic, records, record bytes) -> {"started_at", "ended_at"}
Client: TypeAlias = Callable[..., dict[str, float]]


def of_a_producer(client: Client, bootstrap: str, topic: str, records: int, record_bytes: int) -> float:
    """Megabytes a second until the last record was acknowledged."""
    span = client("produce", bootstrap, topic, records, record_bytes)
    return _megabytes_per_s(span["started_at"], span["ended_at"], records * record_bytes)


def of_both(client: Client, bootstrap: str, topic: str, records: int, record_bytes: int) -> float:
    """A producer and a consumer at once, until the last record was acknowledged and read."""
    words = (bootstrap, topic, records, record_bytes)
    with ThreadPoolExecutor() as pool:
        consuming = pool.submit(client, "consume", *words)
        produced, consumed = client("produce", *words), consuming.result()
    ended_at = max(produced["ended_at"], consumed["ended_at"])
    return _megabytes_per_s(produced["started_at"], ended_at, records * record_bytes)


def _megabytes_per_s(started_at: float, ended_at: float, size: int) -> float:
    return size / (ended_at - started_at) / 1e6
