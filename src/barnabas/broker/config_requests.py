"""What AlterConfigs and IncrementalAlterConfigs share: resource types of the wire, loggers apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from barnabas.broker import loggers
from barnabas.controller.configs import ConfigResult
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import ConfigKind, ConfigResource
from barnabas.ports import StoreError

BROKER_LOGGER = 8
KINDS = {2: ConfigKind.TOPIC, 4: ConfigKind.BROKER, 16: ConfigKind.CLIENT_METRICS, 32: ConfigKind.GROUP}


class Answer(NamedTuple):
    """In the order of both responses' fields."""

    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str


Answers: TypeAlias = list[Answer]


def resource(kind: int, name: str) -> ConfigResource:
    return ConfigResource(KINDS[kind], name)


def answer(result: ConfigResult, error: StoreError | None) -> Answer:
    kind = next(number for number, kind in KINDS.items() if kind is result.resource.kind)
    if error is not None and not result.error:
        code = ErrorCode.UNKNOWN_SERVER_ERROR
        return Answer(code, code.sentence, kind, result.resource.name)
    return Answer(result.error, result.message, kind, result.resource.name)


class Named(NamedTuple):
    """A resource as a request names it: which settings, and which of them without a value."""

    kind: int
    name: str
    keys: list[str]
    nulls: list[str]


def refusals(resources: Sequence[Named], *, loggers_allowed: bool) -> Answers:
    """What the controller never sees: types that cannot be altered, and loggers that are named badly."""
    times = Counter((item.kind, item.name) for item in resources)
    return [
        Answer(ErrorCode.INVALID_REQUEST, problem, item.kind, item.name)
        for item in resources
        if item.kind not in KINDS
        if (problem := _problem(item, times[item.kind, item.name], loggers_allowed)) is not None
    ]


def _problem(item: Named, times: int, loggers_allowed: bool) -> str | None:
    if times > 1:
        return "Each resource must appear at most once."
    if len(set(item.keys)) < len(item.keys):
        return "Error due to duplicate config keys"
    if item.nulls:
        return f"Null value not supported for : {', '.join(item.nulls)}"
    if item.kind != BROKER_LOGGER or not loggers_allowed:
        return f"Unknown resource type {item.kind}"
    return None


def alter_loggers(name: str, own_id: int, changes: Mapping[str, str | None], validate_only: bool) -> Answer:
    try:
        problem = _node_problem(name, own_id)
        if problem is not None:
            raise ApiError(ErrorCode.INVALID_REQUEST, problem)
        loggers.check(changes)
    except ApiError as error:
        return Answer(error.code, error.message, BROKER_LOGGER, name)
    if not validate_only:
        loggers.apply(changes)
    return Answer(0, None, BROKER_LOGGER, name)


def _node_problem(name: str, own_id: int) -> str | None:
    try:
        number = int(name)
    except ValueError:
        return f"Node id must be an integer, but it is: {name}"
    return None if number == own_id else f"Unexpected node id. Expected {own_id}, but received {number}"


def collect(
    early: Answers, reply: Callable[[Answers], None]
) -> Callable[[tuple[ConfigResult, ...], StoreError | None], None]:
    def done(results: tuple[ConfigResult, ...], error: StoreError | None) -> None:
        reply([*early, *(answer(result, error) for result in results)])

    return done
