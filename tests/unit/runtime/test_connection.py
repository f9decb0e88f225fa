"""A reply arrives whole however little the socket takes at a time."""

from __future__ import annotations

import random
import socket
from pathlib import Path

import pytest

from barnabas.ports import FileSlice
from barnabas.runtime.connection import Connection
from barnabas.runtime.files import RealFilesystem
from barnabas.runtime.small_replies import SmallReplies

CONTENT = random.Random(3).randbytes(200_000)


def pair() -> tuple[Connection, socket.socket]:
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    ours.setblocking(False)
    theirs.setblocking(False)
    return Connection(ours, 0), theirs


def received(client: socket.socket, at_most: int) -> bytes:
    try:
        return client.recv(at_most)
    except BlockingIOError:
        return b""


@pytest.mark.parametrize("seed", range(20))
def test_a_slice_between_bytes_arrives_whole_through_a_narrow_socket(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "segment"
    path.write_bytes(CONTENT)
    file = RealFilesystem().open(str(path))
    chance = random.Random(seed)
    head, tail = chance.randbytes(chance.randint(1, 6_000)), chance.randbytes(chance.choice((0, 3, 5_000)))
    part = FileSlice(file, chance.randint(0, 100_000), chance.choice((1, 100, 16_384, 32_768, 90_000)))
    connection, client = pair()
    arrived = b""
    SmallReplies().send(connection, [head, part, tail] if tail else [head, part])
    while connection.out:
        arrived += received(client, chance.randint(1, 5_000))
        connection.flush(lambda _part: True, 1 << 18)
    while piece := received(client, 100_000):
        arrived += piece
    assert arrived == head + CONTENT[part.position : part.position + part.size] + tail
    connection.socket.close()
    client.close()
    file.close()


def test_what_the_socket_does_not_take_is_not_kept_as_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    path.write_bytes(CONTENT)
    file = RealFilesystem().open(str(path))
    connection, client = pair()
    assert not SmallReplies().send(connection, [b"head", FileSlice(file, 0, 32_768), b"tail"])
    assert sum(len(part) for part in connection.out if isinstance(part, bytes)) <= len(b"headtail")
    assert any(isinstance(part, FileSlice) for part in connection.out)
    connection.socket.close()
    client.close()
    file.close()
