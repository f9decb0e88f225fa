"""ApiVersions, DescribeCluster, and what is no proper request at all."""

from __future__ import annotations

import struct
from typing import Any

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.peer import Silence
from tests.support.answers.scenario import scenario

from barnabas.protocol import codec
from barnabas.protocol.messages.api_versions import ApiVersionsRequest
from barnabas.protocol.messages.describe_cluster import DescribeClusterRequest
from barnabas.protocol.messages.metadata import MetadataRequest
from barnabas.protocol.served import SERVED

# Served from the first day on. What comes later gets scenarios of its own.
KEYS = (
    0,
    1,
    2,
    3,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    16,
    18,
    19,
    20,
    21,
    22,
    23,
    32,
    33,
    35,
    37,
    42,
    44,
    47,
    60,
    61,
    74,
    75,
)


@scenario
def api_versions(d: Dialogue) -> None:
    def served(shown: Any) -> Any:
        """Only what both serve; and features are compared elsewhere."""
        shown["api_keys"] = [row for row in shown.get("api_keys", []) if row.get("api_key", 0) in KEYS]
        for name in ("supported_features", "finalized_features", "finalized_features_epoch"):
            shown.pop(name, None)
        return shown

    d.ask("all versions", ApiVersionsRequest("raw", "1.0"), view=served)
    for label, software in {
        "empty name": ("", "1"), "empty version": ("a", ""), "blank in name": ("a b", "1"),
        "dash first": ("-a", "1"), "dash last": ("a-", "1"), "dots": ("a.b-c.d", "1.2-3"),
        "umlaut": ("ä", "1"),
        "underscore": ("a_b", "1"), "one letter": ("a", "1"), "slash": ("a", "1/2"),
    }.items():  # fmt: skip
        d.ask(label, ApiVersionsRequest(*software), (0, 2, 3, 4), view=served)
    for version in (5, 6, 99, 32767, -1, -5):
        d.peer.send_frame(struct.pack(">hhih", 18, version, 9, 3) + b"raw" + b"\0" * 8)
        d.note(f"unknown version {version}", d.peer.receive(18, 0), 0)


@scenario
def describe_cluster(d: Dialogue) -> None:
    for operations in (False, True):
        d.ask(f"operations {operations}", DescribeClusterRequest(operations))
    d.ask("fenced, too", DescribeClusterRequest(False, 1, True))
    for kind in (0, 2, 3, -1, 127):
        d.ask(f"endpoint type {kind}", DescribeClusterRequest(True, kind), (1, 2))


@scenario
def request_headers(d: Dialogue) -> None:
    body = codec.encode(ApiVersionsRequest("raw", "1"), 3)

    def send(label: str, frame: bytes) -> None:
        d.peer.send_frame(frame)
        answer = d.peer.receive_frame()
        shown = answer.value if isinstance(answer, Silence) else f"an answer, correlation {answer[:4].hex()}"
        d.note(label, shown)
        d.peer.close()

    plain = struct.pack(">hhi", 18, 0, 5)
    send("null client id", plain + b"\xff\xff")
    send("empty client id", plain + b"\0\0")
    send("bad UTF-8 in client id", plain + b"\0\2\xc3\x28")
    send("client id longer than the frame", plain + b"\0\x50abc")
    send("client id of length -2", plain + b"\xff\xfe")
    send("no client id at all", plain)
    send("half a header", plain[:5])
    send("empty frame", b"")
    send("negative correlation", struct.pack(">hhi", 18, 0, -7) + b"\xff\xff")
    send("bytes behind the request", plain + b"\xff\xff" + b"xyz")
    flexible = struct.pack(">hhih", 18, 3, 5, -1)
    send("tagged header", flexible + b"\0" + body)
    send("unknown tag in header", flexible + b"\1\x07\2ab" + body)
    send("unknown tag in body", flexible + b"\0" + body[:-1] + b"\1\x63\1z")
    send("tag longer than the frame", flexible + b"\1\x07\x60ab")
    send("the same tag twice", flexible + b"\2\x07\1a\x07\1b" + body)
    send("bad UTF-8 in body", flexible + b"\0" + b"\3\xc3\x28\2a\0")
    send("truncated body", flexible + b"\0" + body[:3])
    send("varint without end", flexible + b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
    metadata = codec.encode(MetadataRequest([], True), 4)
    send("good metadata", struct.pack(">hhih", 3, 4, 5, -1) + metadata)
    send("boolean that is 2", struct.pack(">hhih", 3, 4, 5, -1) + metadata[:-1] + b"\2")
    send("array of -2", struct.pack(">hhih", 3, 4, 5, -1) + struct.pack(">i", -2) + b"\0")
    send(
        "array of a million in four bytes",
        struct.pack(">hhih", 3, 4, 5, -1) + struct.pack(">i", 10**6) + b"\0",
    )
    send("null where none may be", struct.pack(">hhih", 3, 0, 5, -1) + struct.pack(">i", -1))
    send("null name where none may be", struct.pack(">hhih", 3, 4, 5, -1) + struct.pack(">ih", 1, -1) + b"\0")
    for key in (-1, 93, 1000, 32767):
        send(f"unknown key {key}", struct.pack(">hhih", key, 0, 5, -1))
    for key in KEYS:
        row = SERVED[key]
        if key != codec.API_VERSIONS:
            send(
                f"{row.name} above the newest", struct.pack(">hhih", key, row.newest + 1, 5, -1) + b"\0" * 30
            )
            send(
                f"{row.name} below the oldest", struct.pack(">hhih", key, row.oldest - 1, 5, -1) + b"\0" * 30
            )
    send("Produce v0", struct.pack(">hhih", 0, 0, 5, -1) + b"\0" * 30)


@scenario
def request_lengths(d: Dialogue) -> None:
    for label, size in {"negative": -1, "huge": 2**31 - 1, "above the limit": 104857601, "zero": 0}.items():
        d.peer.send_bytes(struct.pack(">i", size))
        answer = d.peer.receive_frame(1.0)
        d.note(label, answer.value if isinstance(answer, Silence) else "an answer")
        d.peer.close()
