"""Key → the last offset it was written at, in memory that does not grow.

As in Kafka each entry is a 16-byte digest of the key and an 8-byte offset, in flat arrays with open
addressing: a dict would take eight times that. Keys with the same digest do not happen by chance.
"""

from __future__ import annotations

import struct
from array import array
from hashlib import blake2b

_DIGEST_SIZE = 16
_HALVES = struct.Struct("<QQ")
ENTRY_SIZE = _DIGEST_SIZE + 8
_SLOTS_MIN = 8


class OffsetMap:
    """`latest_offset`: everything up to there has been seen; later records are kept unasked."""

    __slots__ = ("_first", "_following", "_room", "_second", "_slots", "latest_offset")

    def __init__(self, memory_bytes: int, load_factor: float, offsets_expected: int) -> None:
        """No larger than the dirty offsets need, however much is allowed."""
        needed = int(offsets_expected / load_factor) + _SLOTS_MIN
        self._slots = max(_SLOTS_MIN, min(memory_bytes // ENTRY_SIZE, needed))
        self._first = array("Q", bytes(8)) * self._slots
        self._second = array("Q", bytes(8)) * self._slots
        self._following = array("q", bytes(8)) * self._slots  # offset + 1; 0: free
        # One slot stays free, or a search for a missing key would not end.
        self._room = min(int(self._slots * load_factor), self._slots - 1)
        self.latest_offset = -1

    @property
    def full(self) -> bool:
        return self._room <= 0

    def put(self, key: bytes, offset: int) -> None:
        """Offsets rise, so the last one put is the last one written."""
        first, second = _HALVES.unpack(blake2b(key, digest_size=_DIGEST_SIZE).digest())
        slot = self._slot_of(first, second)
        if not self._following[slot]:
            self._first[slot] = first
            self._second[slot] = second
            self._room -= 1
        self._following[slot] = offset + 1

    def get(self, key: bytes) -> int:
        """-1 if the key was not put."""
        first, second = _HALVES.unpack(blake2b(key, digest_size=_DIGEST_SIZE).digest())
        return self._following[self._slot_of(first, second)] - 1

    def _slot_of(self, first: int, second: int) -> int:
        """Where the digest is, or the free slot where it would go."""
        slot = first % self._slots
        following = self._following
        while following[slot] and (self._first[slot] != first or self._second[slot] != second):
            slot = slot + 1 if slot + 1 < self._slots else 0
        return slot
