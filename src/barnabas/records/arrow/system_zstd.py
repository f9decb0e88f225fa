"""The system's own libzstd, where there is one: nearly every Linux has it, and a distribution's build unpacks
faster than the one that Python's package brings. Only the plain case is done here, one frame into memory that
is there; everything else, and every error, is left to `records/compress.py`.

docs/decisions/0016 says what it gains.
"""

from __future__ import annotations

import ctypes
import os
import weakref

import numpy as np

from barnabas.ports import Buffer

_NAME = "libzstd.so.1"
_VERSION_MIN = 10400  # all functions that are called here are stable since 1.4.0
_MAGIC = b"\x28\xb5\x2f\xfd"  # a library may know the formats before the first version; Kafka does not
_HEADER_SIZE_MIN = 6
_SINGLE_SEGMENT = 0x20  # a flag behind the magic: no window descriptor follows
_WINDOW_MAX = 17 << 3  # of a window descriptor: 128 MB, above which clients refuse a frame

_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_size_t


class SystemZstd:
    """Not for threads: its context is used again for every frame."""

    def __init__(self, library: ctypes.CDLL) -> None:
        create, free = library.ZSTD_createDCtx, library.ZSTD_freeDCtx
        create.restype, free.argtypes = _POINTER, [_POINTER]
        self._frame_size = library.ZSTD_findFrameCompressedSize
        self._frame_size.restype, self._frame_size.argtypes = _SIZE, [_POINTER, _SIZE]
        self._decompress = library.ZSTD_decompressDCtx
        self._decompress.restype = _SIZE
        self._decompress.argtypes = [_POINTER, _POINTER, _SIZE, _POINTER, _SIZE]
        self._context = create()
        if not self._context:
            raise MemoryError("No memory to unpack records with")
        weakref.finalize(self, free, self._context)

    def unpack(self, packed: memoryview, room: memoryview) -> int | None:
        """The size of what is in `room` now; None if that is not all there is to it."""
        if not room or not _is_plain(packed):
            return None
        source = _address(packed)
        if self._frame_size(source, len(packed)) != len(packed):
            return None
        size = int(self._decompress(self._context, _address(room), len(room), source, len(packed)))
        return size if size <= len(room) else None  # errors are the largest numbers there are


def system_zstd() -> SystemZstd | None:
    """None without the library, or where `BARNABAS_NATIVE=off` asks for Python."""
    if os.environ.get("BARNABAS_NATIVE") == "off":
        return None
    try:
        library = ctypes.CDLL(_NAME)
        return SystemZstd(library) if library.ZSTD_versionNumber() >= _VERSION_MIN else None
    except (OSError, AttributeError):  # not there, or without a function
        return None


def _is_plain(packed: memoryview) -> bool:
    if len(packed) < _HEADER_SIZE_MIN or packed[: len(_MAGIC)] != _MAGIC:
        return False
    return bool(packed[4] & _SINGLE_SEGMENT) or packed[5] <= _WINDOW_MAX


def _address(buffer: Buffer) -> int:
    return int(np.frombuffer(buffer, np.uint8).__array_interface__["data"][0])
