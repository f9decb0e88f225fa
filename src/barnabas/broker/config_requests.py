"""What AlterConfigs and IncrementalAlterConfigs share: resource types of the wire, loggers apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from barnabas.broker import loggers
from barnabas.broker.controller_host import code_of
from barnabas.controller.configs import ConfigResult
from barnabas.model.config_numbers import ResourceType
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import ConfigKind, ConfigResource
from barnabas.model.settings.alter import Change, check_changes
from barnabas.ports import StoreError

KINDS: Mapping[int, ConfigKind] = {
    ResourceType.TOPIC: ConfigKind.TOPIC,
    ResourceType.BROKER: ConfigKind.BROKER,
    ResourceType.CLIENT_METRICS: ConfigKind.CLIENT_METRICS,
    ResourceType.GROUP: ConfigKind.GROUP,
}


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
        code = code_of(error)
        return Answer(code, code.sentence, kind, result.resource.name)
    return Answer(result.error, result.message, kind, result.resource.name)


class Named(NamedTuple):
    """A resource as a request names it, and what is to change."""

    kind: int
    name: str
    changes: tuple[Change, ...]


def refusals(resources: Sequence[Named], *, loggers_allowed: bool) -> Answers:
    """What the controller never sees: types that cannot be altered, and loggers that are named badly."""
    times = Counter((item.kind, item.name) for item in resources)
    answers = []
    for item in resources:
        try:
            if item.kind not in KINDS:
                _check(item, times[item.kind, item.name], loggers_allowed)
        except ApiError as error:
            answers.append(Answer(error.code, error.message, item.kind, item.name))
    return answers


def _check(item: Named, times: int, loggers_allowed: bool) -> None:
    if times > 1:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
    check_changes(item.changes)
    if item.kind != ResourceType.BROKER_LOGGER or not loggers_allowed:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {item.kind}")


def alter_loggers(name: str, own_id: int, changes: Mapping[str, str | None], validate_only: bool) -> Answer:
    try:
        problem = _node_problem(name, own_id)
        if problem is not None:
            raise ApiError(ErrorCode.INVALID_REQUEST, problem)
        loggers.check(changes)
    except ApiError as error:
        return Answer(error.code, error.message, ResourceType.BROKER_LOGGER, name)
    if not validate_only:
        loggers.apply(changes)
    return Answer(0, None, ResourceType.BROKER_LOGGER, name)


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
