"""The order in which Java walks a hash map.

Kafka's assignors walk such maps, so who gets the extra partition depends on it. With the same order the same
group is assigned the same way on either broker, whatever order the records were read in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from barnabas.coordination.hashing import java_hash

Key = TypeVar("Key")

_SMALLEST_TABLE = 16


def _hash_of_string(text: str) -> int:
    return java_hash(text) & 0xFFFFFFFF


def _hash_of_uuid(uuid: bytes) -> int:
    """Kafka's Uuid.hashCode, unsigned."""
    value = 0
    for start in range(0, 16, 4):
        value ^= int.from_bytes(uuid[start : start + 4], "big")
    return value


def _walk(keys: list[Key], hash_of: Callable[[Key], int], table_size: int) -> list[Key]:
    def bucket(key: Key) -> int:
        value = hash_of(key)
        return (value ^ (value >> 16)) & (table_size - 1)

    return sorted(keys, key=bucket)


def _grown_table(count: int) -> int:
    """Of a map that was filled key by key."""
    table_size = _SMALLEST_TABLE
    while count > table_size * 3 // 4:
        table_size *= 2
    return table_size


def _copied_table(count: int) -> int:
    """Of a set that was made from a collection: it is sized once, a little more generously."""
    return 1 << (max(_SMALLEST_TABLE, count * 4 // 3 + 1) - 1).bit_length()


def strings_in_java_order(texts: Iterable[str]) -> list[str]:
    """The keys of a map. Equal buckets keep the alphabet's order: it must not depend on the input's."""
    ordered = sorted(texts)
    return _walk(ordered, _hash_of_string, _grown_table(len(ordered)))


def uuids_in_java_order(uuids: Iterable[bytes], *, copied: bool = False) -> list[bytes]:
    """The keys of a map, or a set that was `copied` from a collection."""
    ordered = sorted(uuids)
    table_size = (_copied_table if copied else _grown_table)(len(ordered))
    return _walk(ordered, _hash_of_uuid, table_size)


def partitions_in_java_order(partitions: Iterable[int]) -> list[int]:
    """A set that was copied from a collection; a number is its own hash."""
    ordered = sorted(partitions)
    return _walk(ordered, int, _copied_table(len(ordered)))


def numbers_in_java_order(numbers: Iterable[int]) -> list[int]:
    """A set that was filled one by one."""
    ordered = sorted(numbers)
    return _walk(ordered, int, _grown_table(len(ordered)))
