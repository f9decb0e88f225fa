"""Whether overrides may be the settings of a resource: if not, an ApiError with Kafka's code and sentence.

INVALID_CONFIG is for topics and groups, INVALID_REQUEST mostly for brokers and client metrics, as in Kafka.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.settings import topic
from barnabas.model.settings.broker import BrokerSettings, base_row
from barnabas.model.settings.row import Mode, Scope
from barnabas.model.settings.table import BROKER_SETTINGS, CLIENT_METRICS_SETTINGS, GROUP_SETTINGS
from barnabas.model.settings.values import RequirementError, SettingError


def check(scope: Scope, overrides: Mapping[str, str], broker: BrokerSettings, *, per_broker: bool) -> None:
    """`per_broker` matters to brokers only: the overrides are one broker's own, not the cluster's."""
    match scope:
        case Scope.TOPIC:
            check_topic(overrides, broker)
        case Scope.BROKER:
            check_broker(overrides, broker, per_broker=per_broker)
        case Scope.GROUP:
            check_group(overrides, broker)
        case Scope.CLIENT_METRICS:
            check_client_metrics(overrides)


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
