"""Requests as scripts send them: versions, framing, and what becomes of an error code."""

from __future__ import annotations

import struct
from collections.abc import Generator
from typing import Any, TypeVar

from barnabas.model.errors import ErrorCode
from barnabas.protocol import codec
from barnabas.protocol.messages import APIS
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from barnabas.protocol.schema import Message
from bench.coordinators.script import Pause, Script, Stage, Step

# Both brokers are asked alike, by topic name where the newest version wants topic ids.
_VERSIONS = {
    "Produce": 12,
    "Fetch": 12,
    "ListOffsets": 7,
    "Metadata": 12,
    "OffsetCommit": 9,
    "OffsetFetch": 9,
    "FindCoordinator": 6,
    "JoinGroup": 9,
    "Heartbeat": 4,
    "LeaveGroup": 5,
    "SyncGroup": 5,
    "InitProducerId": 5,
    "EndTxn": 5,
    "ConsumerGroupHeartbeat": 1,
}
RETRY_S = 0.02
_LENGTH = struct.Struct(">i")
# What a coordinator says that has not taken up its work yet.
STARTING = frozenset(
    {
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
    }
)

R = TypeVar("R", bound=Message)


class RefusedError(RuntimeError):
    """The broker answered with an error that the load does not expect."""


def version_of(request: type[Message]) -> int:
    return _VERSIONS[APIS[request.API_KEY].name]


def framed(request: Message) -> bytearray:
    header = codec.RequestHeader(request.API_KEY, version_of(type(request)), 1, "bench")
    body = codec.write_request(header, request)
    return bytearray(_LENGTH.pack(len(body)) + body)


def read(request: type[Message], answer: type[R], frame: bytearray) -> R:
    _, message = codec.read_response(request.API_KEY, version_of(request), frame)
    assert isinstance(message, answer)
    return message


def ask(request: Message, answer: type[R]) -> Generator[Step, Any, R]:
    frame = yield framed(request)
    return read(type(request), answer, frame)


def check(code: int, doing: str) -> None:
    if code != ErrorCode.NONE:
        raise RefusedError(f"{doing} was refused: {ErrorCode(code).name}")


def find_coordinators(port: int, groups: list[str]) -> None:
    """Ask until each coordinator serves: the first question makes the broker create the internal topic."""
    with Stage(port) as stage:
        task = stage.add(_find(groups))
        task.start()
        stage.run_until(lambda: task.is_finished, "finding the coordinators")


def _find(groups: list[str]) -> Script:
    """To be told who it is does not mean that it has taken up its work."""
    waiting = groups
    while waiting:
        yield from ask(FindCoordinatorRequest(coordinator_keys=waiting), FindCoordinatorResponse)
        asked = [OffsetFetchRequestGroup(group, topics=None) for group in waiting]
        answer = yield from ask(OffsetFetchRequest(groups=asked), OffsetFetchResponse)
        waiting = [group.group_id for group in answer.groups if group.error_code in STARTING]
        if waiting:
            yield Pause(RETRY_S)
