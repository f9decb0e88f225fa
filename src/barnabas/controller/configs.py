"""Changing settings: incrementally, and the older way that replaces all of a resource's settings.

Errors and messages are those of Kafka 4.3. What a change makes of the overrides and whether they are sound
is `model.settings`' part; here is what the cluster must say to it. Resource types without a folder in the
tree (loggers, unknown numbers) and those with rules of their own (users, clients) never get here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.controller.znodes.administration import encode_config
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import broker_id_from_text, topic_name_problem
from barnabas.model.image import ClusterImage, ConfigChanged, ConfigKind, ConfigResource
from barnabas.model.settings import alter, validation
from barnabas.model.settings.alter import Change
from barnabas.model.settings.broker import BrokerSettings
from barnabas.model.settings.row import Scope
from barnabas.ports import Delete, Put, Write

SCOPES = {
    ConfigKind.TOPIC: Scope.TOPIC,
    ConfigKind.BROKER: Scope.BROKER,
    ConfigKind.GROUP: Scope.GROUP,
    ConfigKind.CLIENT_METRICS: Scope.CLIENT_METRICS,
}


@dataclass(frozen=True, slots=True)
class IncrementalChange:
    resource: ConfigResource
    changes: tuple[Change, ...]


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


def alter_configs(
    image: ClusterImage,
    changes: Sequence[IncrementalChange | WholeChange],
    *,
    settings: BrokerSettings,
    broker_id: int | None,
    validate_only: bool = False,
) -> Decision[ConfigResult]:
    """`broker_id` is the broker that the client asked, `settings` are its own: only these may be changed
    through it. None: another broker was asked, and has judged what concerns itself."""
    times = Counter(change.resource for change in changes)
    results: list[ConfigResult] = []
    changed: list[ConfigChanged] = []
    for change in changes:
        try:
            if times[change.resource] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            changed.append(ConfigChanged(change.resource, _changed(image, change, settings, broker_id)))
        except ApiError as problem:
            results.append(ConfigResult(change.resource, problem.code, problem.message))
        else:
            results.append(ConfigResult(change.resource))
    if validate_only or not changed:
        return Decision(tuple(results))
    operations = [_write(delta) for delta in changed]
    return Decision(tuple(results), (fence(image), *operations), tuple(changed))


def _changed(
    image: ClusterImage,
    change: IncrementalChange | WholeChange,
    settings: BrokerSettings,
    broker_id: int | None,
) -> dict[str, str]:
    resource = change.resource
    scope = SCOPES[resource.kind]
    if isinstance(change, IncrementalChange):
        alter.check_changes(change.changes)
        if resource.kind is ConfigKind.BROKER:
            _check_resource_name(resource, broker_id)
        values = alter.altered(scope, image.config(*resource), change.changes)
        _check_resource_name(resource, broker_id)
    else:
        values = alter.replaced(change.values)
        _check_resource_name(resource, broker_id)
    if resource.kind is not ConfigKind.BROKER or broker_id is not None:
        validation.check(scope, values, settings, per_broker=resource.name != "")
    _check_exists(image, resource)
    return values


def _check_resource_name(resource: ConfigResource, broker_id: int | None) -> None:
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


def _broker_name_problem(name: str, broker_id: int | None) -> str | None:
    number = broker_id_from_text(name)
    if number is None:
        return f"Node id must be an integer, but it is: {name}"
    if broker_id is not None and number != broker_id:
        return f"Unexpected broker id, expected {broker_id}, but received {name}"
    return None


def _check_exists(image: ClusterImage, resource: ConfigResource) -> None:
    if resource.kind is ConfigKind.TOPIC and resource.name not in image.topics:
        message = f"The topic '{resource.name}' does not exist."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)


def _write(delta: ConfigChanged) -> Write:
    path = tree.config_path(delta.resource)
    # A topic keeps its node, as in Kafka; the others have one only while something is set.
    if delta.values or delta.resource.kind is ConfigKind.TOPIC:
        return Put(path, encode_config(delta.values))
    return Delete(path, missing_ok=True)
