"""Fuzz target: whatever a peer sends as a frame is a request or a `MalformedError`, never anything else.

Hypothesis drives it in `tests/unit/protocol`; `make fuzz` runs it for longer on mutated valid requests.
"""

from __future__ import annotations

import random
from typing import Any

from barnabas.protocol import codec
from barnabas.protocol.codec import MalformedError, RequestHeader
from barnabas.protocol.schema import Message
from barnabas.protocol.served import SERVED


def run(data: bytes) -> Message | None:
    """Parse one frame the way the dispatcher does."""
    frame = memoryview(bytearray(data))
    try:
        header, position = codec.read_header(frame)
        row = SERVED.get(header.api_key)
        if row is None or not row.oldest <= header.version <= row.newest:
            return None
        return codec.decode(codec.request_class(header.api_key), header.version, frame, position)
    except MalformedError:
        return None


def valid_frames() -> list[bytes]:
    """One request of every API and version, with defaults and with one element in every array."""
    frames = []
    for row in SERVED.values():
        for version in range(row.oldest, row.newest + 1):
            kind = codec.request_class(row.key)
            for message in (kind(), filled(kind, version)):
                frames.append(codec.write_request(RequestHeader(row.key, version, 1, "fuzz"), message))
    return frames


def filled(kind: type[Message], version: int) -> Message:
    values: dict[str, Any] = {}
    for field in kind.FIELDS:
        if not field.carried(version):
            continue
        if field.struct is not None:
            inner = filled(field.struct, version)
            values[field.name] = [inner] if field.array else inner
        elif field.array:
            sample = {"string": "name", "bytes": b"data", "uuid": bytes(range(16))}.get(field.kind, 1)
            values[field.name] = [sample]
        elif field.kind == "records":
            values[field.name] = b"not a batch"
        elif field.kind == "string":
            values[field.name] = "name"
    return kind(**values)


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Flip, cut, repeat or overwrite a few bytes."""
    result = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        if not result:
            break
        at = chance.randrange(len(result))
        match chance.randrange(5):
            case 0:
                result[at] ^= 1 << chance.randrange(8)
            case 1:
                del result[at:]
            case 2:
                result[at:at] = result[at : at + chance.randint(1, 16)]
            case 3:
                result[at : at + 4] = chance.choice(
                    (b"\xff" * 4, b"\x7f\xff\xff\xff", b"\0" * 4, b"\x80" * 4)
                )
            case 4:
                result[at] = chance.randrange(256)
    return bytes(result)


def main(seconds: float, seed: int) -> int:
    import time

    chance, frames, count = random.Random(seed), valid_frames(), 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        run(mutate(chance.choice(frames), chance))
        count += 1
    return count


if __name__ == "__main__":
    import sys

    print(main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0), "frames, no surprise")
