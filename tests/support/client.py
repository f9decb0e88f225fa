"""One face for every client library, so that a promise is written once and kept by all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
CREATE_TIME, LOG_APPEND_TIME = 0, 1
READ_TIMEOUT_S = 60.0

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What a test hands to a producer."""

    value: bytes | None
    key: bytes | None = None
    partition: int = 0
    timestamp_ms: int | None = None
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class Message:
    """What a consumer hands to a test."""

    offset: int
    value: bytes | None
    key: bytes | None
    timestamp_ms: int
    timestamp_type: int
    headers: Headers


class RefusedError(Exception):
    """The broker (or the library on its behalf) said no; `code` is Kafka's error code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"error code {code}: {reason}")
        self.code = code


class Client(Protocol):
    """What the suite asks of a library."""

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
        """Produce in order, wait for every delivery, return the offsets (which mean nothing with acks 0)."""
        ...

    def read(
        self, topic: str, partition: int, offset: int, count: int, *, partition_max_bytes: int | None = None
    ) -> list[Message]:
        """Exactly `count` records from `offset` on, or an AssertionError when they do not come."""
        ...

    def find_offset(self, topic: str, partition: int, timestamp_ms: int) -> int:
        """ListOffsets for a timestamp, LATEST or EARLIEST; -1 when there is none."""
        ...

    def create_topic(
        self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None: ...

    def delete_topic(self, topic: str) -> None: ...

    def create_partitions(self, topic: str, total: int) -> None: ...

    def partition_count(self, topic: str) -> int: ...

    def topics(self) -> set[str]: ...

    def topic_config(self, topic: str) -> dict[str, str | None]: ...

    def alter_topic_config(self, topic: str, configs: Mapping[str, str]) -> None: ...

    def delete_records(self, topic: str, partition: int, before_offset: int) -> int:
        """Returns the new low watermark."""
        ...

    def brokers(self) -> list[tuple[int, str, int]]:
        """(node id, host, port) of every broker."""
        ...
