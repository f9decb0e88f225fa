"""The five codecs of a record batch, each bounded: no input makes `decompress` hold more than its limit.

What we write, every client reads: LZ4 with independent blocks (Java refuses linked ones), Snappy in the
framing of Java's xerial library (librdkafka and the Python clients read it too). What we read is wider:
linked LZ4 blocks, raw Snappy (librdkafka), several gzip members or Zstandard frames.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from enum import IntEnum
from functools import partial
from typing import NamedTuple

import cramjam
import lz4.frame
import zstandard

from barnabas.model.errors import ErrorCode
from barnabas.ports import Buffer
from barnabas.records.errors import MalformedRecordsError, RejectedRecordsError, TooLargeError


class Codec(IntEnum):
    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class Levels(NamedTuple):
    """What `compression.<codec>.level` accepts; `default` may lie outside the range, as gzip's does."""

    lowest: int
    highest: int
    default: int

    def accepts(self, level: int) -> bool:
        return self.lowest <= level <= self.highest or level == self.default


LEVELS = {
    Codec.GZIP: Levels(1, 9, -1),
    Codec.LZ4: Levels(1, 17, 9),
    Codec.ZSTD: Levels(-131072, 22, 3),
}

_GZIP_WINDOW_BITS = 31  # 15 bits of window, and a gzip header instead of zlib's

_SNAPPY_MAGIC = b"\x82SNAPPY\x00"
_SNAPPY_HEADER = _SNAPPY_MAGIC + struct.pack(">ii", 1, 1)
_SNAPPY_BLOCK_SIZE = 32 * 1024
_BLOCK_LENGTH = struct.Struct(">i")

_LZ4_FAST = 0
_LZ4_HIGH_COMPRESSION_LOWEST = 3
_LZ4_HIGH_COMPRESSION_HIGHEST = 12

_ZSTD_SKIPPABLE = range(0x184D2A50, 0x184D2A60)
_ZSTD_RUN = 1  # a block type: one byte, repeated
_ZSTD_HEADER_SIZE_MAX = 18

_CHUNK_SIZE_MIN = 64 * 1024
_USUAL_RATIO = 4  # what is asked of a native call first, in multiples of the input


def codec_of(codec_id: int) -> Codec:
    """The codec with this id in the attributes; ids 5 to 7 are nobody's."""
    if codec_id > Codec.ZSTD:
        raise RejectedRecordsError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"Unknown compression type id: {codec_id}"
        )
    return Codec(codec_id)


def compress(codec: int, data: Buffer, level: int | None = None) -> bytes:
    """`level` is meant in Kafka's scale for the codec; None is Kafka's default."""
    return compressor(codec, level)(data)


def compressor(codec: int, level: int | None = None) -> Callable[[Buffer], bytes]:
    """For many batches one after the other, in one thread: Zstandard's context is made once."""
    return _COMPRESSORS[Codec(codec)](level)


def decompress(codec: int, data: Buffer, limit: int, zstd: zstandard.ZstdDecompressor | None = None) -> bytes:
    """Raises TooLargeError beyond `limit` bytes of output, MalformedRecordsError for anything else.

    Who has many batches, in one thread, brings the context that Zstandard would need for each."""
    codec = codec_of(codec)
    try:
        if codec == Codec.ZSTD:
            return _unzstd(data, limit, zstd or zstandard.ZstdDecompressor())
        return _DECOMPRESSORS[codec](data, limit)
    except (zlib.error, cramjam.DecompressionError, zstandard.ZstdError, RuntimeError, EOFError) as error:
        raise MalformedRecordsError(f"Cannot decompress records: {error}") from error


# --- writing ---------------------------------------------------------------------------------------------


def _plain(level: int | None) -> Callable[[Buffer], bytes]:  # noqa: ARG001
    return bytes


def _gzip(level: int | None) -> Callable[[Buffer], bytes]:
    def compress_gzip(data: Buffer) -> bytes:
        stream = zlib.compressobj(_level(Codec.GZIP, level), wbits=_GZIP_WINDOW_BITS)
        return stream.compress(data) + stream.flush()

    return compress_gzip


def _snappy(level: int | None) -> Callable[[Buffer], bytes]:  # noqa: ARG001 - Snappy has no levels
    return _compress_snappy


def _compress_snappy(data: Buffer) -> bytes:
    parts = [_SNAPPY_HEADER]
    view = memoryview(data)
    for start in range(0, len(view), _SNAPPY_BLOCK_SIZE):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + _SNAPPY_BLOCK_SIZE]))
        parts += (_BLOCK_LENGTH.pack(len(block)), block)
    return b"".join(parts)


def _lz4(level: int | None) -> Callable[[Buffer], bytes]:
    # As in Kafka the default level is the fast compressor, any other one the high compressor.
    if level is None or level == LEVELS[Codec.LZ4].default:
        native_level = _LZ4_FAST
    else:
        native_level = min(max(level, _LZ4_HIGH_COMPRESSION_LOWEST), _LZ4_HIGH_COMPRESSION_HIGHEST)
    return partial(
        lz4.frame.compress,
        compression_level=native_level,
        block_size=lz4.frame.BLOCKSIZE_MAX64KB,
        block_linked=False,
        store_size=False,
    )


def _zstd(level: int | None) -> Callable[[Buffer], bytes]:
    return zstandard.ZstdCompressor(level=_level(Codec.ZSTD, level), write_content_size=True).compress


def _level(codec: Codec, level: int | None) -> int:
    return LEVELS[codec].default if level is None else level


_COMPRESSORS: dict[Codec, Callable[[int | None], Callable[[Buffer], bytes]]] = {
    Codec.NONE: _plain,
    Codec.GZIP: _gzip,
    Codec.SNAPPY: _snappy,
    Codec.LZ4: _lz4,
    Codec.ZSTD: _zstd,
}


# --- reading ---------------------------------------------------------------------------------------------


class _Output:
    """Collects pieces and refuses the one that crosses the limit."""

    def __init__(self, limit: int, data: Buffer) -> None:
        self.parts: list[bytes] = []
        self.room = limit
        self.limit = limit
        self.guess = max(_USUAL_RATIO * len(data), _CHUNK_SIZE_MIN)

    @property
    def next_size(self) -> int:
        """How much to ask for: native calls reserve it, so at first what is likely, then as much again.
        One byte above the room is enough to know that the limit is crossed."""
        return min(self.room + 1, max(self.limit - self.room, self.guess))

    def add(self, part: bytes) -> None:
        self.room -= len(part)
        if self.room < 0:
            raise _too_large(self.limit)
        self.parts.append(part)

    def whole(self) -> bytes:
        return self.parts[0] if len(self.parts) == 1 else b"".join(self.parts)


def _too_large(limit: int) -> TooLargeError:
    return TooLargeError(f"The records of the batch decompress to more than {limit} bytes")


def _none(data: Buffer, limit: int) -> bytes:
    if len(data) > limit:
        raise _too_large(limit)
    return bytes(data)


def _gunzip(data: Buffer, limit: int) -> bytes:
    output = _Output(limit, data)
    rest: Buffer = data
    while True:
        stream = zlib.decompressobj(_GZIP_WINDOW_BITS)
        while not stream.eof:
            part = stream.decompress(rest, output.next_size)
            output.add(part)
            rest = stream.unconsumed_tail
            if not part and not rest and not stream.eof:
                raise EOFError("the gzip stream ends early")
        rest = stream.unused_data
        if not rest:
            return output.whole()


def _unsnappy(data: Buffer, limit: int) -> bytes:
    view = memoryview(data)
    output = _Output(limit, data)
    if view[: len(_SNAPPY_MAGIC)] != _SNAPPY_MAGIC:
        return _unsnappy_block(view, output)
    position = len(_SNAPPY_HEADER)
    if len(view) < position:
        raise EOFError("the snappy header ends early")
    while position < len(view):
        if len(view) - position < _BLOCK_LENGTH.size:
            raise EOFError("the snappy stream ends early")
        (length,) = _BLOCK_LENGTH.unpack_from(view, position)
        position += _BLOCK_LENGTH.size
        if not 0 <= length <= len(view) - position:
            raise EOFError("a snappy block is longer than the stream")
        output.add(_unsnappy_block(view[position : position + length], output))
        position += length
    return output.whole()


def _unsnappy_block(block: memoryview, output: _Output) -> bytes:
    # The native call reserves what the block's first bytes promise: look at the promise first.
    if cramjam.snappy.decompress_raw_len(block) > output.room:
        raise _too_large(output.limit)
    return bytes(cramjam.snappy.decompress_raw(block))


def _unlz4(data: Buffer, limit: int) -> bytes:
    output = _Output(limit, data)
    stream = lz4.frame.LZ4FrameDecompressor()
    part = stream.decompress(data, max_length=output.next_size)
    output.add(part)
    while not stream.eof:
        if not part and stream.needs_input:
            raise EOFError("the lz4 frame ends early")
        part = stream.decompress(b"", max_length=output.next_size)
        output.add(part)
    if stream.unused_data:
        raise EOFError("bytes after the end of the lz4 frame")
    return output.whole()


def _unzstd(data: Buffer, limit: int, context: zstandard.ZstdDecompressor) -> bytes:
    check_zstd_frames(memoryview(data))
    output = _Output(limit, data)
    with context.stream_reader(data, read_across_frames=True) as reader:
        while part := reader.read(output.next_size):
            output.add(part)
    return output.whole()


def check_zstd_frames(view: memoryview) -> None:
    """The native reader takes a truncated frame for the end of the data: walk the blocks' lengths first."""
    position = 0
    while position < len(view):
        position = _zstd_frame_end(view, position)
        if position > len(view):
            raise EOFError("the zstd frame ends early")


def _zstd_frame_end(view: memoryview, position: int) -> int:
    magic = int.from_bytes(view[position : position + 4], "little")
    if magic in _ZSTD_SKIPPABLE:
        return position + 8 + int.from_bytes(view[position + 4 : position + 8], "little")
    start = bytes(view[position : position + _ZSTD_HEADER_SIZE_MAX])
    has_checksum = zstandard.get_frame_parameters(start).has_checksum
    position += zstandard.frame_header_size(start)
    is_last = False
    while not is_last:
        if position + 3 > len(view):
            raise EOFError("the zstd frame ends early")
        block = int.from_bytes(view[position : position + 3], "little")
        is_last = block & 1 == 1
        position += 4 if block >> 1 & 3 == _ZSTD_RUN else 3 + (block >> 3)
    return position + (4 if has_checksum else 0)


_DECOMPRESSORS: dict[Codec, Callable[[Buffer, int], bytes]] = {  # and Zstandard, which takes a context
    Codec.NONE: _none,
    Codec.GZIP: _gunzip,
    Codec.SNAPPY: _unsnappy,
    Codec.LZ4: _unlz4,
}
