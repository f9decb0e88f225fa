"""Settings that name Java classes. None can be loaded here; some name what this broker does by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.model.settings.table import BROKER_SETTINGS
from barnabas.model.settings.values import SettingError, refusal

if TYPE_CHECKING:
    from barnabas.model.settings.broker import BrokerSettings

# Java classes whose work this broker does itself, so that naming them changes nothing.
_BUILT_IN = (
    "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "kafka.security.authorizer.AclAuthorizer",
    "kafka.security.auth.SimpleAclAuthorizer",
    "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    "org.apache.kafka.common.metrics.JmxReporter",
)
# A class that says no would be silently absent: better not to start.
_GUARDS = (
    "authorizer.class.name",
    "principal.builder.class",
    "create.topic.policy.class.name",
    "alter.config.policy.class.name",
    "client.quota.callback.class",
    "ssl.engine.factory.class",
)
_HELPERS = ("metric.reporters", "kafka.metrics.reporters", "replica.selector.class")


# Assignors by the names Kafka gives them.
_ASSIGNORS = {"group.consumer.assignors": {"uniform", "range"}, "group.share.assignors": {"simple"}}


def check(settings: BrokerSettings) -> None:
    _check_placeholders(settings)
    for name in _GUARDS:
        guard = settings.optional_text(name)
        if guard and guard not in (*_BUILT_IN, BROKER_SETTINGS[name].default):
            raise refusal(
                name,
                guard,
                f"Class {guard} could not be found. Java classes cannot be loaded here, and without this one "
                "more would be allowed than you meant.",
            )
    for name, built_in in _ASSIGNORS.items():
        for chosen in settings.names(name):
            if chosen not in built_in:
                raise SettingError(f"Class {chosen} cannot be found")


def _check_placeholders(settings: BrokerSettings) -> None:
    """A placeholder taken literally might become a password."""
    for provider in settings.names("config.providers"):
        for name, text in settings.static.items():
            if f"${{{provider}:" in text:
                raise SettingError(
                    f"{name} takes its value from the provider {provider}, which cannot be loaded here; "
                    "write the value itself."
                )


def warnings(settings: BrokerSettings) -> list[str]:
    chosen = [(name, each) for name in _HELPERS for each in _as_names(settings, name)]
    return [
        f"{name}={each} is a Java class, which cannot be loaded here; it has no effect."
        for name, each in chosen
        if each not in _BUILT_IN
    ]


def _as_names(settings: BrokerSettings, name: str) -> tuple[str, ...]:
    value = settings[name]
    return value if isinstance(value, tuple) else (str(value),) if value else ()
