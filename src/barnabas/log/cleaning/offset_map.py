"""Key → the last offset it was written at, in memory that does not grow.

As in Kafka each entry is a 16-byte digest of the key and an 8-byte offset in one flat table with open
addressing: a dict would take eight times that. Keys with the same digest do not happen by chance.
"""

from __future__ import annotations

import struct
from hashlib import blake2b

_DIGEST_SIZE = 16
ENTRY_SIZE = _DIGEST_SIZE + 8
_EMPTY = bytes(_DIGEST_SIZE)
_SLOT = struct.Struct("<Q")
_OFFSET = struct.Struct("<q")
_SLOTS_MIN = 8


class OffsetMap:
    """`latest_offset`: everything up to there has been seen; later records are kept unasked."""

    def __init__(self, memory_bytes: int, load_factor: float, offsets_expected: int) -> None:
        """No larger than the dirty offsets need: a sparse table would touch a page for every key."""
        needed = int(offsets_expected / load_factor) + _SLOTS_MIN
        self._slots = max(_SLOTS_MIN, min(memory_bytes // ENTRY_SIZE, needed))
        self._table = bytearray(self._slots * ENTRY_SIZE)
        self._room = min(int(self._slots * load_factor), self._slots - 1)
        self.latest_offset = -1

    @property
    def full(self) -> bool:
        return self._room <= 0

    def put(self, key: bytes, offset: int) -> None:
        """Offsets rise, so the last one put is the last one written."""
        digest = blake2b(key, digest_size=_DIGEST_SIZE).digest()
        table, position = self._table, self._position(digest)
        if table[position : position + _DIGEST_SIZE] != digest:
            table[position : position + _DIGEST_SIZE] = digest
            self._room -= 1
        _OFFSET.pack_into(table, position + _DIGEST_SIZE, offset)

    def get(self, key: bytes) -> int:
        digest = blake2b(key, digest_size=_DIGEST_SIZE).digest()
        position = self._position(digest)
        if self._table[position : position + _DIGEST_SIZE] != digest:
            return -1
        offset: int = _OFFSET.unpack_from(self._table, position + _DIGEST_SIZE)[0]
        return offset

    def _position(self, digest: bytes) -> int:
        """Where the digest is, or the free place where it would go. One slot is always free."""
        table = self._table
        slot = _SLOT.unpack_from(digest)[0] % self._slots
        while True:
            position: int = slot * ENTRY_SIZE
            found = table[position : position + _DIGEST_SIZE]
            if found in (digest, _EMPTY):
                return position
            slot = slot + 1 if slot + 1 < self._slots else 0
