"""The system's libzstd does the plain case, and says of every other that it is not its own."""

from __future__ import annotations

import ctypes

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from barnabas.records.arrow import system_zstd as module
from barnabas.records.arrow.scratch import Scratch
from barnabas.records.arrow.system_zstd import SystemZstd, system_zstd
from barnabas.records.compress import Codec

TEXT = b"the messenger never arrives, the messenger never arrives; " * 3000
PACKED = zstandard.ZstdCompressor(write_content_size=False).compress(TEXT)
GUARD = b"guard"


@pytest.fixture(scope="module")
def library() -> SystemZstd:
    found = system_zstd()
    if found is None:
        pytest.skip("this system has no libzstd.so.1")
    return found


def unpacked(library: SystemZstd, packed: bytes, room_bytes: int) -> bytes | None:
    memory = bytearray(room_bytes) + GUARD
    size = library.unpack(memoryview(packed), memoryview(memory)[:room_bytes])
    assert memory[room_bytes:] == GUARD, "it wrote behind its room"
    return None if size is None else bytes(memory[:size])


@pytest.mark.parametrize("spare", [0, 1, 100_000])
@pytest.mark.parametrize("has_size", [False, True])
@pytest.mark.parametrize("has_checksum", [False, True])
def test_a_frame_is_unpacked_where_there_is_room(
    library: SystemZstd, has_size: bool, has_checksum: bool, spare: int
) -> None:
    compressor = zstandard.ZstdCompressor(write_content_size=has_size, write_checksum=has_checksum)
    assert unpacked(library, compressor.compress(TEXT), len(TEXT) + spare) == TEXT


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        PACKED[:5],
        PACKED[:-1],
        PACKED + b"x",
        PACKED + PACKED,
        PACKED + b"\x50\x2a\x4d\x18\x00\x00\x00\x00",  # a frame to be skipped
        b"\x50\x2a\x4d\x18\x00\x00\x00\x00",
        b"\x27" + PACKED[1:],  # an old format
        PACKED[:5] + bytes([31 << 3]) + PACKED[6:],  # a window of 2 TB
    ],
)
def test_what_is_not_one_whole_frame_is_left_to_others(library: SystemZstd, packed: bytes) -> None:
    assert unpacked(library, packed, 3 * len(TEXT)) is None


@pytest.mark.parametrize("room_bytes", [0, 1, len(TEXT) - 1])
def test_what_has_no_room_is_left_to_others(library: SystemZstd, room_bytes: int) -> None:
    assert unpacked(library, PACKED, room_bytes) is None


@given(position=st.integers(0, len(PACKED) - 1), change=st.integers(1, 255))
def test_broken_frames_break_nothing(position: int, change: int) -> None:
    library = system_zstd()
    broken = bytearray(PACKED)
    broken[position] ^= change
    if library is not None:
        unpacked(library, bytes(broken), len(TEXT))
        assert unpacked(library, PACKED, len(TEXT)) == TEXT


def test_there_is_none_where_python_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARNABAS_NATIVE", "off")
    assert system_zstd() is None


@pytest.mark.parametrize("name", ["libzstd-of-nobody.so.1", "libc.so.6"])
def test_records_are_unpacked_without_a_library_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_NAME", name)
    assert system_zstd() is None
    scratch = Scratch()
    assert scratch.unpack(0, Codec.ZSTD, memoryview(PACKED), len(TEXT)) == len(TEXT)
    assert bytes(scratch.content[: len(TEXT)]) == TEXT


def test_a_library_that_is_too_old_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Old:
        @staticmethod
        def ZSTD_versionNumber() -> int:  # noqa: N802 - its name
            return 10308

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Old())
    assert system_zstd() is None
