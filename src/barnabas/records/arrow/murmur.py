"""The partitioner of Java's clients: murmur2 of the key, made positive, modulo the number of partitions."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from barnabas.records.arrow.binary import pieces_of
from barnabas.records.arrow.varints import Bytes, Ints

_Hashes: TypeAlias = npt.NDArray[np.uint32]

_SEED = 0x9747B28C
_MULTIPLIER = 0x5BD1E995
_WORD = 4
_FEW = 16  # keys that are still hashed one by one, when the others have ended
_MASK = 0xFFFFFFFF


def partitions_of(keys: pa.Array, partition_count: int) -> pa.Array:
    """The partition of each key, as int32; null for a null key."""
    data, start, length = pieces_of(keys)
    positive = murmur2(data, start, np.maximum(length, 0)) & np.uint32(0x7FFFFFFF)
    return pa.array((positive % np.uint32(partition_count)).astype(np.int32), mask=length < 0)


def murmur2(data: Bytes, start: Ints, length: Ints) -> _Hashes:
    """The hash of each data[start : start + length]."""
    hashes = np.uint32(_SEED) ^ length.astype(np.uint32)
    words_left = length // _WORD
    position = start.copy()
    # Words begin anywhere, so this view has one at every byte.
    words: npt.NDArray[Any] = np.ndarray(
        (max(len(data) - _WORD + 1, 0),), np.dtype("<u4"), np.ascontiguousarray(data).data, strides=(1,)
    )
    active = np.flatnonzero(words_left)
    while active.size > _FEW:
        at = position[active]
        hashes[active] = _mix(hashes[active], words[at])
        position[active] = at + _WORD
        words_left[active] -= 1
        active = active[words_left[active] > 0]
    for key in active.tolist():
        end = int(position[key] + words_left[key] * _WORD)
        hashes[key] = _mix_words(int(hashes[key]), data[position[key] : end].view("<u4").tolist())
        position[key] = end
    return _finish(_mix_tail(hashes, data, position, length % _WORD))


def _mix(hashes: _Hashes, words: _Hashes) -> _Hashes:
    multiplier = np.uint32(_MULTIPLIER)
    mixed = words * multiplier
    mixed ^= mixed >> np.uint32(24)
    mixed *= multiplier
    return hashes * multiplier ^ mixed


def _mix_words(value: int, words: list[int]) -> int:
    for word in words:
        mixed = word * _MULTIPLIER & _MASK
        mixed = (mixed ^ mixed >> 24) * _MULTIPLIER & _MASK
        value = value * _MULTIPLIER & _MASK ^ mixed
    return value


def _mix_tail(hashes: _Hashes, data: Bytes, position: Ints, left: Ints) -> _Hashes:
    for index in (2, 1, 0):
        has_byte = np.flatnonzero(left > index)
        hashes[has_byte] ^= data[position[has_byte] + index].astype(np.uint32) << np.uint32(8 * index)
    has_tail = np.flatnonzero(left)
    hashes[has_tail] *= np.uint32(_MULTIPLIER)
    return hashes


def _finish(hashes: _Hashes) -> _Hashes:
    hashes ^= hashes >> np.uint32(13)
    hashes *= np.uint32(_MULTIPLIER)
    hashes ^= hashes >> np.uint32(15)
    return hashes
