"""What the table of settings says of a change, for the controller that decides it."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import ConfigKind, ConfigResource
from barnabas.model.settings import alter
from barnabas.model.settings.broker import BrokerSettings
from barnabas.model.settings.row import Scope
from barnabas.model.settings.table import SETTINGS
from barnabas.model.settings.values import Type

_SCOPES = {
    ConfigKind.TOPIC: Scope.TOPIC,
    ConfigKind.BROKER: Scope.BROKER,
    ConfigKind.GROUP: Scope.GROUP,
    ConfigKind.CLIENT_METRICS: Scope.CLIENT_METRICS,
}


class SettingsRules:
    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = settings

    def check(self, resource: ConfigResource, values: Mapping[str, str]) -> None:
        match resource.kind:
            case ConfigKind.TOPIC:
                alter.check_topic(values, self._settings)
            case ConfigKind.BROKER:
                alter.check_broker(values, self._settings, per_broker=resource.name != "")
            case ConfigKind.GROUP:
                alter.check_group(values, self._settings)
            case _:
                alter.check_client_metrics(values)

    def is_list(self, kind: ConfigKind, key: str) -> bool:
        row = SETTINGS[_SCOPES[kind]].get(key)
        if row is None and kind is ConfigKind.BROKER:
            raise ApiError(ErrorCode.INVALID_CONFIG, f"Unknown config name: {key}")
        return row is not None and row.type is Type.LIST

    def default(self, kind: ConfigKind, key: str) -> str | None:
        row = SETTINGS[_SCOPES[kind]].get(key)
        return None if row is None else row.default
