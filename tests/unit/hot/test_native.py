"""The C module says what the Python reference says, whatever the bytes, and keeps to its buffers."""

from __future__ import annotations

import os
import random
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from tests.fuzz.frames import mutate
from tests.support.batches import Batch
from tests.support.hot import BOTH, NATIVE, needs_native

from barnabas.hot import reference

HEAD, MIDDLE, AFTER = b"\0\0\0\x09", b"middle", b"behind"
NOW_MS = 1_700_000_000_000


def produce_frame(batch: bytes, middle: bytes = MIDDLE) -> bytes:
    return HEAD + b"corr" + middle + unsigned(len(batch) + 1) + batch + b"\0\0\0"


def unsigned(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def batches() -> some.SearchStrategy[Batch]:
    return some.builds(
        Batch,
        values=some.lists(some.binary(max_size=300), min_size=1, max_size=6),
        attributes=some.sampled_from((0, 0, 0, 1, 4, 5, 8, 0x10, 0x20, 0x100)),
        producer_id=some.sampled_from((-1, -1, -2, 0, 2**40)),
        base_sequence=some.sampled_from((-1, 0, 2**31 - 1)),
        timestamp_ms=some.sampled_from((NOW_MS, -1, -(2**63), 2**63 - 1)),
        magic=some.sampled_from((2, 2, 2, 1)),
        length=some.sampled_from((None, None, None, 49, -1)),
        last_offset_delta=some.sampled_from((None, None, -1, 2**31 - 1)),
        record_count=some.sampled_from((None, None, -1, 0, 2**31 - 1)),
        payload=some.one_of(some.none(), some.binary(max_size=40), prefixes()),
    )


def prefixes() -> some.SearchStrategy[bytes]:
    """Records that are little more than their lengths: long varints, negative ones, ones past the end."""
    short = (b"\0", b"\x02x", b"\x01", b"\x80\0", b"\xfe\xff\xff\xff\x0f")
    long = (b"\x82" + b"\x80" * 7 + b"\0y", b"\xff" * 9 + b"\x01", b"\xfe" + b"\xff" * 8 + b"\x01")
    too_long = (b"\x80" * 9 + b"\x02", b"\x80" * 10 + b"\0")
    lengths = some.sampled_from(short + long + too_long)
    return some.lists(lengths, min_size=1, max_size=3).map(b"".join)


@needs_native
@settings(max_examples=600, deadline=None)
@given(batch=batches(), chance=some.randoms(use_true_random=False), mutated=some.booleans())
def test_a_batch_is_the_same_to_both(batch: Batch, chance: random.Random, mutated: bool) -> None:
    assert NATIVE is not None
    data = produce_frame(batch.encode())
    frame = memoryview(bytearray(mutate(data, chance) if mutated else data))
    assert NATIVE.plain_batch(frame, HEAD, MIDDLE) == reference.plain_batch(frame, HEAD, MIDDLE)


@needs_native
@settings(max_examples=300, deadline=None)
@given(data=some.binary(max_size=120), cut=some.integers(0, 40))
def test_any_bytes_at_all_are_the_same_to_both(data: bytes, cut: int) -> None:
    assert NATIVE is not None
    for given_bytes in (data, HEAD + b"corr" + MIDDLE + data, produce_frame(data)[: -cut or None]):
        frame = memoryview(given_bytes)
        assert NATIVE.plain_batch(frame, HEAD, MIDDLE) == reference.plain_batch(frame, HEAD, MIDDLE)
        for before, after in ((MIDDLE, AFTER), (b"", b""), (MIDDLE, data[8:])):
            fetched = NATIVE.fetch_offset(frame, HEAD, before, after)
            assert fetched == reference.fetch_offset(frame, HEAD, before, after)


@pytest.mark.parametrize("steps", BOTH)
def test_a_plain_batch_is_found_where_it_is(steps: ModuleType) -> None:
    batch = Batch(values=[b"one", b"two"], timestamp_ms=NOW_MS).encode()
    frame = memoryview(bytearray(produce_frame(batch)))
    start, end, crc, last_offset_delta, max_timestamp, producer_id = steps.plain_batch(frame, HEAD, MIDDLE)
    assert frame[start:end] == batch
    assert crc == int.from_bytes(batch[17:21], "big")
    assert (last_offset_delta, max_timestamp, producer_id) == (1, NOW_MS, -1)


@pytest.mark.parametrize("steps", BOTH)
@pytest.mark.parametrize("attributes", [0x08, 0x10, 0x20])
def test_what_is_not_plain_is_left_to_the_general_way(steps: ModuleType, attributes: int) -> None:
    frame = memoryview(produce_frame(Batch(attributes=attributes).encode()))
    assert steps.plain_batch(frame, HEAD, MIDDLE) is None


@pytest.mark.parametrize("steps", BOTH)
@pytest.mark.parametrize("offset", [0, 1, -1, 2**63 - 1, -(2**63)])
def test_the_fetch_offset_is_what_stands_between(steps: ModuleType, offset: int) -> None:
    data = HEAD + b"corr" + MIDDLE + offset.to_bytes(8, "big", signed=True) + AFTER
    assert steps.fetch_offset(memoryview(data), HEAD, MIDDLE, AFTER) == offset
    for other in (data[:-1], data + b"x", data[:3] + b"x" + data[4:], data[:9] + b"x" + data[10:]):
        assert steps.fetch_offset(memoryview(other), HEAD, MIDDLE, AFTER) is None


@needs_native
@settings(max_examples=300, deadline=None)
@given(
    sent=some.lists(batches(), max_size=4),
    chance=some.randoms(use_true_random=False),
    cut=some.integers(0, 80),
    base_offset=some.sampled_from((0, 5, -1, 2**63 - 1, 2**63 - 7)),
)
def test_the_offset_behind_batches_is_the_same_to_both(
    sent: list[Batch], chance: random.Random, cut: int, base_offset: int
) -> None:
    assert NATIVE is not None
    offset = base_offset.to_bytes(8, "big", signed=True)
    data = b"".join(offset + batch.encode()[8:] for batch in sent)
    for given_bytes in (data, data[: -cut or None], mutate(data, chance) if data else b""):
        records = memoryview(given_bytes)
        assert NATIVE.offset_behind(records) == reference.offset_behind(records)


@pytest.mark.parametrize("steps", BOTH)
def test_the_offset_behind_is_that_of_the_last_whole_batch(steps: ModuleType) -> None:
    one = Batch(values=[b"a", b"b"]).encode()
    two = (7).to_bytes(8, "big") + Batch(values=[b"c", b"d", b"e"]).encode()[8:]
    assert steps.offset_behind(memoryview(one)) == 2
    assert steps.offset_behind(memoryview(one + two)) == 10
    assert steps.offset_behind(memoryview(one + two[:-1])) == 2
    assert steps.offset_behind(memoryview(one[:-1])) is None
    assert steps.offset_behind(memoryview(b"")) is None


@pytest.mark.parametrize("steps", BOTH)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    head=some.binary(max_size=20),
    tail=some.binary(max_size=20),
    position=some.integers(0, 120),
    size=some.integers(-1, 120),
    room=some.integers(0, 160),
)
def test_a_slice_is_put_between_head_and_tail(
    tmp_path: Path, steps: ModuleType, head: bytes, tail: bytes, position: int, size: int, room: int
) -> None:
    content = bytes(range(100))
    path = tmp_path / "segment"
    path.write_bytes(content)
    space = bytearray(room + 1)  # one behind, which is nobody's
    with path.open("rb") as file:
        gathered = steps.gather(memoryview(space)[:room], head, file.fileno(), position, size, tail)
    expected = head + content[position : position + size] + tail
    is_possible = 0 <= size <= max(len(content) - position, 0) and len(expected) <= room
    assert gathered == (len(expected) if is_possible else -1)
    assert not is_possible or space[:gathered] == expected
    assert space[room] == 0


@pytest.mark.parametrize("steps", BOTH)
def test_what_cannot_be_read_is_not_put_together(steps: ModuleType) -> None:
    space = memoryview(bytearray(100))
    for fd in (-1, 1 << 20, os.open(os.devnull, os.O_RDONLY)):
        assert steps.gather(space, b"head", fd, 0, 10, b"tail") == -1
    os.close(fd)


@needs_native
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (b"read-only", b"", 0, 0, 1, b""),
        (bytearray(9), "head", 0, 0, 1, b""),
        (bytearray(9), b"", "0", 0, 1, b""),
        (bytearray(9), b"", 0, 0, 1, None),
    ],
)
def test_wrong_arguments_to_gather_are_an_error(arguments: tuple[object, ...]) -> None:
    assert NATIVE is not None
    with pytest.raises((TypeError, BufferError)):
        NATIVE.gather(*arguments)


@needs_native
@pytest.mark.parametrize(
    "arguments", [(), (b"frame", b"head"), (b"frame", "head", b"middle"), (3, HEAD, MIDDLE)]
)
def test_wrong_arguments_are_a_type_error(arguments: tuple[object, ...]) -> None:
    assert NATIVE is not None
    with pytest.raises(TypeError):
        NATIVE.plain_batch(*arguments)
