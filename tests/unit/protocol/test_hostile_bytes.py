"""A peer can send anything."""

from __future__ import annotations

import random
import struct
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fuzz import frames

from barnabas.protocol import codec
from barnabas.protocol.codec import MalformedError
from barnabas.protocol.schema import Message
from barnabas.protocol.served import SERVED

VALID = frames.valid_frames()


def test_valid_requests_parse() -> None:
    assert all(frames.run(frame) is not None for frame in VALID)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_or_parsed(data: bytes) -> None:
    parsed = frames.run(data)
    assert parsed is None or isinstance(parsed, Message)


@settings(max_examples=300)
@given(st.integers(0, 2**32))
def test_mutated_requests_are_refused_or_parsed(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(10):
        parsed = frames.run(frames.mutate(chance.choice(VALID), chance))
        assert parsed is None or isinstance(parsed, Message)


@pytest.mark.parametrize("key", SERVED, ids=lambda key: SERVED[key].name)
def test_every_cut_of_a_request_is_refused_or_parsed(key: int) -> None:
    for frame in VALID:
        if struct.unpack_from(">h", frame)[0] == key:
            for cut in range(len(frame)):
                parsed = frames.run(frame[:cut])
                assert parsed is None or isinstance(parsed, Message)


def test_an_absurd_count_costs_nothing() -> None:
    """A Metadata request that announces two billion topics in a handful of bytes."""
    frame = struct.pack(">hhih", 3, 8, 1, 0) + struct.pack(">i", 2**31 - 1) + b"\0\0" * 8
    header, position = codec.read_header(frame)
    tracemalloc.start()
    try:
        with pytest.raises(MalformedError):
            codec.decode(codec.request_class(3), header.version, frame, position)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
