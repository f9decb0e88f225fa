"""Which partition remembers a group or a transactional id: Java's hash of the text, as every Kafka does."""

from __future__ import annotations

from functools import lru_cache


def java_hash(text: str) -> int:
    """`String.hashCode` over UTF-16 code units, as a signed 32-bit number."""
    value = 0
    encoded = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(encoded[::2], encoded[1::2], strict=True):
        value = (value * 31 + (high << 8 | low)) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def partition_of(key: str, partitions: int) -> int:
    """The smallest number has no absolute value in Java; Kafka counts it as 0."""
    hashed = _remembered(key) if len(key) <= REMEMBERED_LENGTH_MAX else java_hash(key)
    return (0 if hashed == -(1 << 31) else abs(hashed)) % partitions


# Every heartbeat and commit asks for the same few names again. Long names are nobody's real ones.
REMEMBERED_LENGTH_MAX = 256
_remembered = lru_cache(10_000)(java_hash)
