"""Unpacking in place gives what `decompress` gives, or fails as it does."""

from __future__ import annotations

import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from barnabas.records.arrow import scratch as scratch_module
from barnabas.records.arrow.scratch import Scratch
from barnabas.records.compress import Codec, compress, decompress
from barnabas.records.errors import MalformedRecordsError, TooLargeError

COMPRESSED = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
TEXT = b"the messenger never arrives, the messenger never arrives; " * 3000


def without_system_library() -> Scratch:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BARNABAS_NATIVE", "off")
        return Scratch()


# As in life: what was there before must not matter.
SHARED = Scratch()
SHARED_IN_PYTHON = without_system_library()

contents = st.one_of(
    st.binary(max_size=2000),
    st.tuples(st.binary(max_size=50), st.integers(0, 4000)).map(lambda p: p[0] * p[1]),
)


def in_place(codec: Codec, packed: bytes, limit: int, at: int = 0) -> bytes | type[Exception]:
    result = unpacked_by(SHARED, codec, packed, limit, at)
    assert unpacked_by(SHARED_IN_PYTHON, codec, packed, limit, at) == result
    return result


def unpacked_by(
    scratch: Scratch, codec: Codec, packed: bytes, limit: int, at: int
) -> bytes | type[Exception]:
    try:
        size = scratch.unpack(at, codec, memoryview(packed), limit)
    except (MalformedRecordsError, TooLargeError) as error:
        return type(error)
    return bytes(scratch.content[at : at + size])


def by_itself(codec: Codec, packed: bytes, limit: int) -> bytes | type[Exception]:
    if not packed:
        return b""
    try:
        return decompress(codec, packed, limit)
    except (MalformedRecordsError, TooLargeError) as error:
        return type(error)


@given(codec=st.sampled_from(COMPRESSED), content=contents, room=st.integers(-3, 3), at=st.integers(0, 5000))
def test_the_content_is_put_where_it_is_wanted(codec: Codec, content: bytes, room: int, at: int) -> None:
    limit = max(len(content) + room, 0)
    packed = compress(codec, content)
    assert in_place(codec, packed, limit, at) == by_itself(codec, packed, limit)


@given(
    codec=st.sampled_from([Codec.LZ4, Codec.ZSTD]),
    content=contents,
    cut=st.integers(0, 60),
    tail=st.binary(max_size=8),
    changed=st.tuples(st.integers(0, 300), st.integers(1, 255)),
)
def test_what_is_broken_is_broken_in_place_too(
    codec: Codec, content: bytes, cut: int, tail: bytes, changed: tuple[int, int]
) -> None:
    packed = bytearray(compress(codec, content))
    for broken in (packed[: max(len(packed) - cut, 0)] + tail, packed + packed):
        assert in_place(codec, bytes(broken), 300_000) == by_itself(codec, bytes(broken), 300_000)
    packed[changed[0] % len(packed)] ^= changed[1]
    assert_agreement(codec, bytes(packed))


def assert_agreement(codec: Codec, packed: bytes) -> None:
    """A newer libzstd refuses frames that an older one takes, and the system's may be either: what all of
    them take must be the same. Batches have a checksum, so such a frame is a malicious producer's."""
    ways = [unpacked_by(scratch, codec, packed, 300_000, 0) for scratch in (SHARED, SHARED_IN_PYTHON)]
    results = [*ways, by_itself(codec, packed, 300_000)]
    taken = [result for result in results if codec is not Codec.ZSTD or result is not MalformedRecordsError]
    assert all(result == taken[0] for result in taken)


def test_a_frame_that_only_some_versions_of_zstandard_take() -> None:
    assert_agreement(Codec.ZSTD, bytes.fromhex("28b52ffd20115d00001800000102018088016001"))


@pytest.mark.parametrize("is_linked", [False, True])
@pytest.mark.parametrize("has_block_checksum", [False, True])
@pytest.mark.parametrize("has_checksum", [False, True])
@pytest.mark.parametrize("has_size", [False, True])
def test_every_form_of_an_lz4_frame_is_unpacked_in_place(
    is_linked: bool,
    has_block_checksum: bool,
    has_checksum: bool,
    has_size: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packed = lz4.frame.compress(
        TEXT,
        block_linked=is_linked,
        block_checksum=has_block_checksum,
        content_checksum=has_checksum,
        store_size=has_size,
    )
    monkeypatch.delattr(scratch_module, "decompress")
    assert in_place(Codec.LZ4, packed, len(TEXT)) == TEXT


@pytest.mark.parametrize("has_size", [False, True])
def test_zstandard_frames_are_unpacked_in_place(has_size: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = zstandard.ZstdCompressor(write_content_size=has_size).compress(TEXT)
    monkeypatch.delattr(scratch_module, "decompress")
    assert in_place(Codec.ZSTD, packed + packed, 2 * len(TEXT)) == TEXT + TEXT


@pytest.mark.parametrize("codec", COMPRESSED)
def test_it_grows_and_keeps_what_is_there(codec: Codec) -> None:
    scratch = Scratch()
    large = TEXT * 20
    first = scratch.unpack(0, codec, memoryview(compress(codec, TEXT)), len(TEXT))
    second = scratch.unpack(first, codec, memoryview(compress(codec, large)), len(large))
    assert bytes(scratch.content[: first + second]) == TEXT + large


def test_a_bomb_makes_nothing_grow() -> None:
    scratch = Scratch()
    before = len(scratch.content)
    for codec in COMPRESSED:
        with pytest.raises(TooLargeError):
            scratch.unpack(0, codec, memoryview(compress(codec, bytes(50_000_000))), 100_000)
    assert len(scratch.content) == before
