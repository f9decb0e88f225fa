"""Changing settings: incrementally, and the older way that replaces all of a resource's settings.

Errors and messages are those of Kafka 4.3. Whether a value is sound is not decided here: `ConfigRules` knows
the settings. Resource types without a folder in the tree (loggers, unknown numbers) never get here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.controller.znodes.administration import encode_config
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import topic_name_problem
from barnabas.model.image import ClusterImage, ConfigChanged, ConfigKind, ConfigResource
from barnabas.ports import Delete, Put, Write

# Numbers of resource types on the wire. For any other, loggers aside, the answer is INVALID_REQUEST with
# "Unknown resource type <number>".
KINDS_BY_RESOURCE_TYPE = {
    2: ConfigKind.TOPIC,
    4: ConfigKind.BROKER,
    16: ConfigKind.CLIENT_METRICS,
    32: ConfigKind.GROUP,
}


class ConfigRules(Protocol):
    """What the table of settings knows."""

    def check(self, resource: ConfigResource, values: Mapping[str, str]) -> None:
        """Raise ApiError when these would not do as the whole settings of the resource: INVALID_CONFIG for
        topics and groups, INVALID_REQUEST for brokers and client metrics, as Kafka does."""
        ...

    def is_list(self, kind: ConfigKind, key: str) -> bool: ...

    def default(self, kind: ConfigKind, key: str) -> str | None:
        """What holds when nothing is set: APPEND and SUBTRACT start from it."""
        ...


class AlterOperation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class Alteration:
    key: str
    operation: int  # of AlterOperation; whatever number the peer sent
    value: str | None = None


@dataclass(frozen=True, slots=True)
class IncrementalChange:
    resource: ConfigResource
    alterations: tuple[Alteration, ...]


@dataclass(frozen=True, slots=True)
class WholeChange:
    """The resource's settings from now on: what is not named is removed."""

    resource: ConfigResource
    values: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class ConfigResult:
    resource: ConfigResource
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


def alter_configs_incrementally(
    image: ClusterImage,
    changes: Sequence[IncrementalChange],
    *,
    rules: ConfigRules,
    broker_id: int,
    validate_only: bool = False,
) -> Decision[ConfigResult]:
    """`broker_id` is the broker that the client asked: only its own settings may be changed through it."""
    return _decide(image, changes, rules, broker_id, validate_only)


def alter_configs(
    image: ClusterImage,
    changes: Sequence[WholeChange],
    *,
    rules: ConfigRules,
    broker_id: int,
    validate_only: bool = False,
) -> Decision[ConfigResult]:
    return _decide(image, changes, rules, broker_id, validate_only)


def _decide(
    image: ClusterImage,
    changes: Sequence[IncrementalChange] | Sequence[WholeChange],
    rules: ConfigRules,
    broker_id: int,
    validate_only: bool,
) -> Decision[ConfigResult]:
    times = Counter(change.resource for change in changes)
    results: list[ConfigResult] = []
    changed: list[ConfigChanged] = []
    for change in changes:
        try:
            if times[change.resource] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            changed.append(ConfigChanged(change.resource, _changed(image, change, rules, broker_id)))
        except ApiError as problem:
            results.append(ConfigResult(change.resource, problem.code, problem.message))
        else:
            results.append(ConfigResult(change.resource))
    if validate_only or not changed:
        return Decision(tuple(results))
    operations = [_write(delta) for delta in changed]
    return Decision(tuple(results), (fence(image), *operations), tuple(changed))


def _changed(
    image: ClusterImage, change: IncrementalChange | WholeChange, rules: ConfigRules, broker_id: int
) -> dict[str, str]:
    resource = change.resource
    if isinstance(change, IncrementalChange):
        _check_distinct([alteration.key for alteration in change.alterations])
        _check_keys([(a.key, a.value) for a in change.alterations if a.operation != AlterOperation.DELETE])
        if resource.kind is ConfigKind.BROKER:
            _check_resource_name(resource, broker_id)
        values = dict(image.config(*resource))
        for alteration in change.alterations:
            _alter(values, alteration, resource.kind, rules)
        _check_resource_name(resource, broker_id)
    else:
        _check_distinct([key for key, _ in change.values])
        _check_keys(change.values)
        _check_resource_name(resource, broker_id)
        values = {key: value for key, value in change.values if value is not None}
    rules.check(resource, values)
    _check_exists(image, resource)
    return values


def _check_keys(values: Sequence[tuple[str, str | None]]) -> None:
    nulls = [key for key, value in values if value is None]
    if nulls:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}")


def _check_distinct(keys: Sequence[str]) -> None:
    if len(set(keys)) < len(keys):
        raise ApiError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")


def _check_resource_name(resource: ConfigResource, broker_id: int) -> None:
    problem = None
    match resource.kind:
        case ConfigKind.TOPIC if resource.name == "":
            problem = "Default topic resources are not allowed."
        case ConfigKind.TOPIC if (reason := topic_name_problem(resource.name)) is not None:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")
        case ConfigKind.GROUP if resource.name == "":
            problem = "Default group resources are not allowed."
        case ConfigKind.CLIENT_METRICS if resource.name == "":
            problem = "Subscription name can't be empty"
        case ConfigKind.BROKER if resource.name != "":
            problem = _broker_name_problem(resource.name, broker_id)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_REQUEST, problem)


def _broker_name_problem(name: str, broker_id: int) -> str | None:
    try:
        number = int(name)
    except ValueError:
        return f"Node id must be an integer, but it is: {name}"
    if number != broker_id:
        return f"Unexpected broker id, expected {broker_id}, but received {name}"
    return None


def _check_exists(image: ClusterImage, resource: ConfigResource) -> None:
    if resource.kind is ConfigKind.TOPIC and resource.name not in image.topics:
        message = f"The topic '{resource.name}' does not exist."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)


def _alter(values: dict[str, str], alteration: Alteration, kind: ConfigKind, rules: ConfigRules) -> None:
    key, value = alteration.key, alteration.value or ""
    match alteration.operation:
        case AlterOperation.SET:
            values[key] = value
        case AlterOperation.DELETE:
            values.pop(key, None)
        case AlterOperation.APPEND | AlterOperation.SUBTRACT:
            operation = AlterOperation(alteration.operation)
            if not rules.is_list(kind, key):
                raise ApiError(ErrorCode.INVALID_CONFIG, _not_a_list(operation, kind, key))
            current = values.get(key, rules.default(kind, key) or "")
            values[key] = _altered_list(current, operation, value)
        case unknown:
            # For topics Kafka 4.3 runs into an error of its own here; its sentence for brokers fits all.
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {unknown}")


def _not_a_list(operation: AlterOperation, kind: ConfigKind, key: str) -> str:
    if kind is ConfigKind.BROKER:
        return f"Config value {operation.name.lower()} is not allowed for config key: {key}"
    return f"Can't {operation.name} to key {key} because its type is not LIST."


def _altered_list(current: str, operation: AlterOperation, value: str) -> str:
    items = [item for item in current.split(",") if item != ""]
    for item in value.split(","):
        if operation is AlterOperation.APPEND and item not in items:
            items.append(item)
        elif operation is AlterOperation.SUBTRACT and item in items:
            items.remove(item)
    return ",".join(items)


def _write(delta: ConfigChanged) -> Write:
    path = tree.config_path(delta.resource)
    # A topic keeps its node, as in Kafka; the others have one only while something is set.
    if delta.values or delta.resource.kind is ConfigKind.TOPIC:
        return Put(path, encode_config(delta.values))
    return Delete(path, missing_ok=True)
