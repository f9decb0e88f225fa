"""Which partition remembers a group or a transactional id: Java's hash of the text, as every Kafka does."""

from __future__ import annotations

from collections.abc import Iterable


def java_hash(text: str) -> int:
    """`String.hashCode` over UTF-16 code units, as a signed 32-bit number."""
    value = 0
    for unit in _units(text):
        value = (value * 31 + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def _units(text: str) -> Iterable[int]:
    if text.isascii():  # asked with every request to a coordinator, and nearly always so
        return text.encode()
    encoded = text.encode("utf-16-be", "surrogatepass")
    return (high << 8 | low for high, low in zip(encoded[::2], encoded[1::2], strict=True))


def partition_of(key: str, partitions: int) -> int:
    """The smallest number has no absolute value in Java; Kafka counts it as 0."""
    hashed = java_hash(key)
    return (0 if hashed == -(1 << 31) else abs(hashed)) % partitions
