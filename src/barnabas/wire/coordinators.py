"""Questions that only a group's or a transaction's coordinator can answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple, TypeVar

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.wire.address import Address
from barnabas.wire.cluster import Cluster
from barnabas.wire.codes import known

T = TypeVar("T")

_FIND_COORDINATOR = 10
_BATCHED_SINCE = 4
# What a coordinator says that is starting, stopping, or no longer the one: ask again, after looking again.
_ELSEWHERE = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)


class KeyType(IntEnum):
    GROUP = 0
    TRANSACTION = 1


class Coordinator(NamedTuple):
    node_id: int
    host: str
    port: int


def find(cluster: Cluster, keys: Sequence[str], kind: KeyType) -> dict[str, Coordinator | ApiError]:
    """One question for all keys, where the broker takes several at once; no retry."""
    if cluster.connection().version_of(_FIND_COORDINATOR) < _BATCHED_SINCE:
        return {key: _find_one(cluster, key, kind) for key in keys}
    answer = cluster.call_once(FindCoordinatorRequest("", int(kind), keys), FindCoordinatorResponse)
    return {
        row.key: ApiError(known(row.error_code), row.error_message or None)
        if row.error_code
        else _found(cluster, Coordinator(row.node_id, row.host, row.port))
        for row in answer.coordinators
    }


def _found(cluster: Cluster, coordinator: Coordinator) -> Coordinator:
    cluster.learn(coordinator.node_id, Address(coordinator.host, coordinator.port))
    return coordinator


def _find_one(cluster: Cluster, key: str, kind: KeyType) -> Coordinator | ApiError:
    answer = cluster.call_once(FindCoordinatorRequest(key, int(kind)), FindCoordinatorResponse)
    if answer.error_code:
        return ApiError(known(answer.error_code), answer.error_message or None)
    return _found(cluster, Coordinator(answer.node_id, answer.host, answer.port))


def from_coordinators(
    cluster: Cluster,
    keys: Iterable[str],
    kind: KeyType,
    ask: Callable[[Coordinator, list[str]], Iterable[tuple[str, T | ApiError]]],
) -> dict[str, T | ApiError]:
    """Call `ask(coordinator, keys)` for every coordinator, and again for the keys whose coordinator was not
    ready. A key that fails for good, or until the time is over, has its error as its answer."""
    wanted = list(dict.fromkeys(keys))
    done: dict[str, T | ApiError] = {}
    trouble: dict[str, ApiError] = {}

    def attempt() -> None:
        trouble.clear()
        grouped: dict[Coordinator, list[str]] = {}
        left = [key for key in wanted if key not in done]
        for key, found in find(cluster, left, kind).items():
            if isinstance(found, ApiError):
                (trouble if found.code.retriable else done)[key] = found
            else:
                grouped.setdefault(found, []).append(key)
        for coordinator, group in grouped.items():
            for key, answer in ask(coordinator, group):
                if isinstance(answer, ApiError) and answer.code in _ELSEWHERE:
                    trouble[key] = answer
                else:
                    done[key] = answer
        for error in trouble.values():
            raise error

    if wanted:
        try:
            cluster.retrying(attempt)
        except ApiError as error:
            for key in wanted:
                done.setdefault(key, trouble.get(key, error))
    missing = ApiError(
        ErrorCode.UNKNOWN_SERVER_ERROR, "The coordinator's answer leaves out what was asked for."
    )
    return {key: done.get(key, missing) for key in wanted}


def from_coordinator(
    cluster: Cluster, key: str, kind: KeyType, ask: Callable[[Coordinator], T | ApiError]
) -> T:
    """The same for one key; what fails is raised."""

    def ask_one(coordinator: Coordinator, keys: list[str]) -> Iterable[tuple[str, T | ApiError]]:
        yield keys[0], ask(coordinator)

    answer = from_coordinators(cluster, [key], kind, ask_one)[key]
    if isinstance(answer, ApiError):
        raise answer
    return answer
