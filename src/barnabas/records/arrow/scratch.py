"""Memory for unpacked records that is used again and again, and unpacking straight into it.

A fresh page costs more than to fill it: the kernel clears it and maps it, and all of that goes when the
batch is done with. So who decodes one answer after the other brings one of these.
"""

from __future__ import annotations

import struct

import cramjam
import numpy as np
import zstandard

from barnabas.ports import Buffer
from barnabas.records.arrow.system_zstd import system_zstd
from barnabas.records.compress import Codec, check_zstd_frames, decompress

_SIZE_MIN = 1 << 20
_WORD = struct.Struct("<I")
_LZ4_MAGIC = 0x184D2204
_LZ4_STORED = 1 << 31  # of a block's length: not compressed
_LZ4_HEADER_SIZE = 7
_LZ4_DICTIONARY, _LZ4_CONTENT_CHECKSUM, _LZ4_CONTENT_SIZE, _LZ4_BLOCK_CHECKSUM = 1, 4, 8, 16


class Scratch:
    """Not for threads. What was unpacked stays until something else is unpacked to the same place."""

    def __init__(self) -> None:
        self._memory = np.empty(_SIZE_MIN, np.uint8).data
        self._zstd = zstandard.ZstdDecompressor()
        self._system_zstd = system_zstd()

    @property
    def content(self) -> memoryview:
        return self._memory

    def unpack(self, at: int, codec: int, packed: memoryview, limit: int) -> int:
        """Put the content of `packed` at this place, and say its size. Errors are those of `decompress`."""
        room = self._memory[at : at + limit]
        size = self._unpack_in_place(codec, packed, room) if packed else 0
        if size is not None:
            return size
        # Either there is no room, or something is wrong that `decompress` has a sentence for.
        return self.put(at, decompress(codec, packed, limit, self._zstd))

    def put(self, at: int, content: Buffer) -> int:
        size = len(content)
        if at + size > len(self._memory):
            larger = np.empty(max(2 * len(self._memory), at + size), np.uint8).data
            larger[:at] = self._memory[:at]
            self._memory = larger
        self._memory[at : at + size] = content
        return size

    def _unpack_in_place(self, codec: int, packed: memoryview, room: memoryview) -> int | None:
        """None if that does not work, for whatever reason."""
        try:
            if codec == Codec.LZ4 and _is_one_lz4_frame(packed):
                return int(cramjam.lz4.decompress_into(packed, room))
            if codec == Codec.ZSTD:
                return self._unzstd(packed, room)
        except (cramjam.DecompressionError, zstandard.ZstdError, EOFError):
            return None
        return None

    def _unzstd(self, packed: memoryview, room: memoryview) -> int | None:
        if self._system_zstd is not None:
            size = self._system_zstd.unpack(packed, room)
            if size is not None:
                return size
        check_zstd_frames(packed)
        size = 0
        with self._zstd.stream_reader(packed, read_across_frames=True) as reader:
            while size < len(room):
                count = reader.readinto(room[size:])
                if not count:
                    return size
                size += count
            return None if reader.read(1) else size


def _is_one_lz4_frame(packed: memoryview) -> bool:
    """The native call goes on with the next frame behind the first, which is none of ours."""
    if len(packed) < _LZ4_HEADER_SIZE or _WORD.unpack_from(packed)[0] != _LZ4_MAGIC:
        return False
    flags = packed[4]
    position = (
        _LZ4_HEADER_SIZE + (8 if flags & _LZ4_CONTENT_SIZE else 0) + (4 if flags & _LZ4_DICTIONARY else 0)
    )
    checksum_size = 4 if flags & _LZ4_BLOCK_CHECKSUM else 0
    while position + 4 <= len(packed):
        (length,) = _WORD.unpack_from(packed, position)
        position += 4
        if length == 0:
            return position + (4 if flags & _LZ4_CONTENT_CHECKSUM else 0) == len(packed)
        position += (length & ~_LZ4_STORED) + checksum_size
    return False
