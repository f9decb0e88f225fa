"""AlterConfigs and IncrementalAlterConfigs: what the overrides of a resource become, and whether they may.

Everything here is an ApiError with Kafka's code and sentence, or the new overrides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.settings import topic
from barnabas.model.settings.broker import BrokerSettings, base_row
from barnabas.model.settings.row import Mode, Scope
from barnabas.model.settings.table import (
    BROKER_SETTINGS,
    CLIENT_METRICS_SETTINGS,
    GROUP_SETTINGS,
    SETTINGS,
    TOPIC_SETTINGS,
)
from barnabas.model.settings.values import RequirementError, SettingError, Type


class Operation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Change(NamedTuple):
    name: str
    operation: int  # as sent: may be no Operation at all
    value: str | None


# --- from changes to overrides ---------------------------------------------------------------------------


def altered(scope: Scope, current: Mapping[str, str], changes: Sequence[Change]) -> dict[str, str]:
    """Incremental: the overrides after `changes`, not yet checked."""
    _refuse_duplicates(change.name for change in changes)
    missing = [each.name for each in changes if each.value is None and each.operation != Operation.DELETE]
    if missing:
        raise _invalid_request(f"Null value not supported for : {', '.join(missing)}")
    overrides = dict(current)
    for change in changes:
        if change.operation not in Operation.__members__.values():
            raise _invalid_request(f"Unknown operations type {change.operation}")
        _apply(scope, overrides, change.name, Operation(change.operation), change.value or "")
    return overrides


def replaced(pairs: Sequence[tuple[str, str | None]]) -> dict[str, str]:
    """Legacy AlterConfigs: the overrides become what the request names, and nothing else."""
    _refuse_duplicates(name for name, _ in pairs)
    missing = [name for name, value in pairs if value is None]
    if missing:
        raise _invalid_request(f"Null value not supported for : {', '.join(missing)}")
    return {name: value for name, value in pairs if value is not None}


def _apply(scope: Scope, overrides: dict[str, str], name: str, operation: Operation, value: str) -> None:
    if operation is Operation.SET:
        overrides[name] = value
    elif operation is Operation.DELETE:
        overrides.pop(name, None)
    else:
        present = _list_items(scope, overrides, name, operation)
        items = value.split(",")
        if operation is Operation.APPEND:
            present += [item for item in dict.fromkeys(items) if item not in present]
        else:
            present = [item for item in present if item not in items]
        overrides[name] = ",".join(present)


def _list_items(scope: Scope, overrides: Mapping[str, str], name: str, operation: Operation) -> list[str]:
    """What a list holds before it grows or shrinks; one that is not set holds its default."""
    row = SETTINGS[scope].get(name)
    if scope is Scope.BROKER and row is None:
        raise _invalid_config(f"Unknown config name: {name}")
    # Kafka does not treat the lists of client metrics as lists here.
    if row is None or row.type is not Type.LIST or scope is Scope.CLIENT_METRICS:
        if scope is Scope.BROKER:
            verb = operation.name.lower()
            raise _invalid_config(f"Config value {verb} is not allowed for config key: {name}")
        raise _invalid_config(f"Can't {operation.name} to key {name} because its type is not LIST.")
    text = overrides.get(name, row.default) or ""
    return [item for item in text.split(",") if item]


def _refuse_duplicates(names: Iterable[str]) -> None:
    listed = list(names)
    if len(set(listed)) != len(listed):
        raise _invalid_request("Error due to duplicate config keys")


# --- whether overrides may be ----------------------------------------------------------------------------


def check_topic(overrides: Mapping[str, str], broker: BrokerSettings) -> None:
    try:
        topic.validate(overrides, broker)
    except SettingError as error:
        raise _invalid_config(str(error)) from None


def check_broker(overrides: Mapping[str, str], broker: BrokerSettings, *, per_broker: bool) -> BrokerSettings:
    """The broker's settings once `overrides` are its own (or, with per_broker false, the cluster's) layer."""
    _refuse(overrides, _is_read_only, "Cannot update these configs dynamically")
    _refuse(
        overrides,
        _needs_listener,
        "These security configs can be dynamically updated only per-listener using the listener prefix",
    )
    try:
        for name, text in overrides.items():
            row = base_row(name)
            if row is not None:
                row.parse(text)
        if not per_broker:
            reason = "Cannot update these configs at default cluster level, broker id must be specified"
            _refuse(overrides, _is_per_broker, reason)
        cluster, own = (broker.cluster_dynamic, overrides) if per_broker else (overrides, broker.own_dynamic)
        after = broker.with_dynamic(cluster, own)
    except RequirementError as error:
        raise _invalid_request(f"requirement failed: {error}") from None
    except SettingError as error:
        raise _invalid_request(str(error)) from None
    _check_threads(broker, after)
    return after


def check_group(overrides: Mapping[str, str], broker: BrokerSettings) -> None:
    for name in overrides:
        if name not in GROUP_SETTINGS:
            raise _invalid_config(f"Unknown group config name: {name}")
    try:
        numbers = {name: GROUP_SETTINGS[name].parse(text) for name, text in overrides.items()}
    except SettingError as error:
        raise _invalid_config(str(error)) from None
    for name, number in numbers.items():
        kind, _, rest = name.partition(".")
        least, most = f"group.{kind}.min.{rest}", f"group.{kind}.max.{rest.removeprefix('num.')}"
        assert number is not None, "a parsed override has a value"
        if type(number) is int and least in BROKER_SETTINGS and number < broker.integer(least):
            raise _invalid_config(f"{name} must be greater than or equal to {least}")
        if type(number) is int and most in BROKER_SETTINGS and number > broker.integer(most):
            raise _invalid_config(f"{name} must be less than or equal to {most}")
    _check_heartbeats(overrides, broker)


_INTERVAL_MS_MIN, _INTERVAL_MS_MAX = 100, 3_600_000
_CLIENT_SELECTORS = frozenset(
    {
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)


def check_client_metrics(overrides: Mapping[str, str]) -> None:
    for name in overrides:
        if name not in CLIENT_METRICS_SETTINGS:
            raise _invalid_request(f"Unknown client metrics configuration: {name}")
    try:
        values = {name: CLIENT_METRICS_SETTINGS[name].parse(text) for name, text in overrides.items()}
    except SettingError as error:
        raise _invalid_config(str(error)) from None
    interval = values.get("interval.ms")
    if type(interval) is int and not _INTERVAL_MS_MIN <= interval <= _INTERVAL_MS_MAX:
        raise _invalid_request(
            f"Invalid value {interval} for interval.ms, interval must be between "
            f"{_INTERVAL_MS_MIN} and {_INTERVAL_MS_MAX} (1 hour)"
        )
    patterns = values.get("match")
    for pattern in patterns if isinstance(patterns, tuple) else ():
        if not _is_selector(pattern):
            raise _invalid_config(f"Illegal client matching pattern: {pattern}")


def _is_selector(pattern: str) -> bool:
    selector, separator, expression = pattern.partition("=")
    if not separator or "=" in expression or selector.strip() not in _CLIENT_SELECTORS:
        return False
    try:
        re.compile(expression.strip())
    except re.error:
        return False
    return True


# --- one setting at a time -------------------------------------------------------------------------------


def validate_topic_config(name: str, value: str) -> None:
    """One topic setting by itself; what must hold between several is `check_topic`'s."""
    if name not in TOPIC_SETTINGS:
        raise _invalid_config(f"Unknown topic config name: {name}")
    try:
        TOPIC_SETTINGS[name].parse(value)
    except SettingError as error:
        raise _invalid_config(str(error)) from None


def validate_broker_config(name: str, value: str, *, per_broker: bool, broker: BrokerSettings) -> None:
    """One dynamic broker setting on top of what the broker has."""
    layer = broker.own_dynamic if per_broker else broker.cluster_dynamic
    check_broker({**layer, name: value}, broker, per_broker=per_broker)


# --- the rules -------------------------------------------------------------------------------------------

_LISTENER_SECURITY = frozenset(
    {
        "ssl.key.password",
        *(f"ssl.keystore.{each}" for each in ("type", "location", "password", "key", "certificate.chain")),
        *(f"ssl.truststore.{each}" for each in ("type", "location", "password", "certificates")),
    }
)
_CLUSTER_LEVEL_LISTENER = frozenset(
    {"max.connections", "max.connection.creation.rate", "num.network.threads"}
)
_RESIZABLE = (
    "num.io.threads",
    "num.network.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
    "remote.log.reader.threads",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
)


def _is_read_only(name: str) -> bool:
    row = BROKER_SETTINGS.get(name)
    return row is not None and row.mode is Mode.READ_ONLY


def _needs_listener(name: str) -> bool:
    return name in _LISTENER_SECURITY


def _is_per_broker(name: str) -> bool:
    row = base_row(name)
    if row is None:
        return False
    return row.mode is Mode.PER_BROKER or (name != row.name and row.name not in _CLUSTER_LEVEL_LISTENER)


def _refuse(overrides: Mapping[str, str], rule: Callable[[str], bool], reason: str) -> None:
    refused = [name for name in overrides if rule(name)]
    if refused:
        raise _invalid_request(f"{reason}: [{', '.join(refused)}]")


def _check_threads(before: BrokerSettings, after: BrokerSettings) -> None:
    for name in _RESIZABLE:
        now, then = before.integer(name), after.integer(name)
        failed = f"Dynamic thread count update validation failed for {name}={then}"
        if then < now // 2:
            raise _invalid_dynamic(f"{failed}, value should be at least half the current value {now}")
        if then > now * 2:
            raise _invalid_dynamic(
                f"{failed}, value should not be greater than double the current value {now}"
            )
    now, then = before.integer("log.cleaner.threads"), after.integer("log.cleaner.threads")
    if then > now * 2:
        raise _invalid_dynamic(
            f"Log cleaner threads cannot be increased to more than double the current value {now}"
        )


def _check_heartbeats(overrides: Mapping[str, str], broker: BrokerSettings) -> None:
    for kind in ("consumer", "share", "streams"):
        heartbeat, session = f"{kind}.heartbeat.interval.ms", f"{kind}.session.timeout.ms"
        interval, timeout = (
            int(overrides[name]) if name in overrides else broker.integer(f"group.{name}")
            for name in (heartbeat, session)
        )
        if timeout <= interval:
            raise _invalid_config(f"{session} must be greater than {heartbeat}")


def _invalid_dynamic(reason: str) -> ApiError:
    return _invalid_request(
        f"Invalid value org.apache.kafka.common.config.ConfigException: {reason} "
        "for configuration Invalid dynamic configuration"
    )


def _invalid_config(sentence: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_CONFIG, sentence)


def _invalid_request(sentence: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, sentence)
