"""Codecs: every client reads what we write, we read what they write, and no input blows memory up."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import cramjam
import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.records.foreign import aiokafka_codec, kafka_codec

from barnabas.model.errors import ErrorCode
from barnabas.records.compress import LEVELS, Codec, compress, decompress
from barnabas.records.errors import MalformedRecordsError, RejectedRecordsError, TooLargeError

COMPRESSED = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
TEXT = b"the messenger never arrives, the messenger never arrives; " * 3000

data = st.one_of(
    st.binary(max_size=2000),
    st.tuples(st.binary(max_size=50), st.integers(0, 4000)).map(lambda p: p[0] * p[1]),
)


@given(codec=st.sampled_from(list(Codec)), content=data)
def test_what_is_compressed_comes_back(codec: Codec, content: bytes) -> None:
    assert decompress(codec, memoryview(compress(codec, content)), len(content)) == content


@pytest.mark.parametrize("codec", COMPRESSED)
def test_a_byte_above_the_limit_is_refused(codec: Codec) -> None:
    packed = compress(codec, TEXT)
    assert decompress(codec, packed, len(TEXT)) == TEXT
    with pytest.raises(TooLargeError) as caught:
        decompress(codec, packed, len(TEXT) - 1)
    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("codec", COMPRESSED)
def test_a_bomb_costs_its_limit_and_no_more(codec: Codec) -> None:
    bomb = compress(codec, bytes(50_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError):
            decompress(codec, bomb, 100_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000 + len(bomb)


def test_a_snappy_block_that_promises_gigabytes_is_refused_before_it_is_given_any() -> None:
    promise = b"\xff\xff\xff\xff\x0f" + b"\x00a"
    with pytest.raises(TooLargeError):
        decompress(Codec.SNAPPY, promise, 1000)


@pytest.mark.parametrize("codec", COMPRESSED)
def test_a_truncated_stream_is_malformed_wherever_it_ends(codec: Codec) -> None:
    packed = compress(codec, bytes(range(256)) * 600)
    for cut in {1, 2, 3, 4, 5, 8, 9, len(packed) // 2, len(packed) - 1}:
        with pytest.raises(MalformedRecordsError) as caught:
            decompress(codec, packed[:-cut], 1 << 20)
        assert caught.value.code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", COMPRESSED)
def test_bytes_behind_the_end_of_the_stream_are_malformed(codec: Codec) -> None:
    with pytest.raises(MalformedRecordsError):
        decompress(codec, compress(codec, TEXT) + b"more", len(TEXT) + 100)


@pytest.mark.parametrize("codec", COMPRESSED)
@given(noise=st.binary(max_size=200), at=st.integers(0, 400), flip=st.integers(1, 255))
def test_noise_is_refused_with_our_errors_only(codec: Codec, noise: bytes, at: int, flip: int) -> None:
    damaged = bytearray(compress(codec, TEXT[:500]))
    damaged[at % len(damaged)] ^= flip
    for content in (noise, bytes(damaged)):
        with suppress(MalformedRecordsError, TooLargeError):
            assert len(decompress(codec, content, 1000)) <= 1000


def test_codec_ids_that_nobody_has_are_unsupported() -> None:
    for codec_id in (5, 6, 7):
        with pytest.raises(RejectedRecordsError) as caught:
            decompress(codec_id, b"", 10)
        assert caught.value.code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


READERS = [
    (Codec.GZIP, gzip.decompress),
    (Codec.GZIP, kafka_codec.gzip_decode),
    (Codec.GZIP, aiokafka_codec.gzip_decode),
    (Codec.SNAPPY, aiokafka_codec.snappy_decode),
    (Codec.LZ4, kafka_codec.lz4_decode),
    (Codec.LZ4, aiokafka_codec.lz4_decode),
    (Codec.ZSTD, kafka_codec.zstd_decode),
    (Codec.ZSTD, aiokafka_codec.zstd_decode),
]


@pytest.mark.parametrize(("codec", "reader"), READERS)
def test_other_clients_read_what_we_write(codec: Codec, reader: Callable[[bytes], bytes]) -> None:
    for content in (TEXT, TEXT[:100], TEXT[:1]):
        assert bytes(reader(compress(codec, content))) == content


WRITERS = [
    (Codec.GZIP, gzip.compress),
    (Codec.GZIP, lambda content: gzip.compress(content[:10]) + gzip.compress(content[10:])),
    (Codec.GZIP, kafka_codec.gzip_encode),
    (Codec.SNAPPY, lambda content: bytes(cramjam.snappy.compress_raw(content))),
    (Codec.SNAPPY, aiokafka_codec.snappy_encode),
    (Codec.LZ4, kafka_codec.lz4_encode),
    (Codec.LZ4, aiokafka_codec.lz4_encode),
    (Codec.LZ4, partial(lz4.frame.compress, block_linked=True, content_checksum=True, block_checksum=True)),
    (Codec.LZ4, partial(lz4.frame.compress, store_size=True, block_size=lz4.frame.BLOCKSIZE_MAX4MB)),
    (Codec.ZSTD, kafka_codec.zstd_encode),
    (Codec.ZSTD, aiokafka_codec.zstd_encode),
    (Codec.ZSTD, zstandard.ZstdCompressor(write_content_size=False, write_checksum=True).compress),
    (Codec.ZSTD, lambda content: zstandard.compress(content[:10]) + zstandard.compress(content[10:])),
    (Codec.ZSTD, lambda content: b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zstandard.compress(content, 19)),
]  # fmt: skip


@pytest.mark.parametrize(("codec", "writer"), WRITERS)
def test_we_read_what_other_clients_write(codec: Codec, writer: Callable[[bytes], bytes]) -> None:
    for content in (TEXT, TEXT[:100], b"messenger! messenger!"):
        assert decompress(codec, bytes(writer(content)), len(content)) == content


def test_lz4_blocks_are_independent_because_java_refuses_linked_ones() -> None:
    flags = compress(Codec.LZ4, TEXT)[4]
    assert flags & 0x20, "the frame's flag for block independence"
    assert not lz4.frame.get_frame_info(compress(Codec.LZ4, TEXT))["block_linked"]


def test_snappy_is_framed_in_blocks_of_32_kib_as_java_writes_it() -> None:
    packed = compress(Codec.SNAPPY, TEXT)
    assert packed[:16] == b"\x82SNAPPY\0" + bytes([0, 0, 0, 1] * 2)
    block_length = int.from_bytes(packed[16:20], "big")
    assert bytes(cramjam.snappy.decompress_raw(packed[20 : 20 + block_length])) == TEXT[: 32 * 1024]


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD])
def test_every_level_kafka_accepts_works_and_the_highest_packs_no_worse(codec: Codec) -> None:
    levels = LEVELS[codec]
    for level in (levels.lowest, levels.default, levels.highest):
        assert levels.accepts(level)
        assert decompress(codec, compress(codec, TEXT, level), len(TEXT)) == TEXT
    assert len(compress(codec, TEXT, levels.highest)) <= len(compress(codec, TEXT, levels.lowest))
    assert compress(codec, TEXT) == compress(codec, TEXT, levels.default)
    assert not levels.accepts(levels.highest + 1)
