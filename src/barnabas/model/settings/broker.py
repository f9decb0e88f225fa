"""A broker's settings: parsed, checked against each other, frozen.

Three layers make the value of a name, the first that has it wins: what was set dynamically for this broker,
what was set dynamically for the cluster, the properties file. Below them is the row's default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.settings import listeners, plugins, requirements
from barnabas.model.settings.listener_syntax import parse_map
from barnabas.model.settings.row import Setting
from barnabas.model.settings.table import BROKER_SETTINGS, BROKER_SYNONYMS
from barnabas.model.settings.typed import TypedValues
from barnabas.model.settings.values import SettingError, Type, Value, parse_text, refusal

_EMPTY: Mapping[str, str] = {}
_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS

# Keys of Kafka 2.x that cannot be obeyed: ignoring an address would let the broker listen elsewhere.
_REPLACED = {
    "host.name": "listeners",
    "port": "listeners",
    "advertised.host.name": "advertised.listeners",
    "advertised.port": "advertised.listeners",
}
_RENAMED = {"delegation.token.master.key": "delegation.token.secret.key"}
# Settings of plug-ins and of single listeners carry names of their own behind these.
_FOREIGN_PREFIXES = ("config.providers.", "rsm.config.", "rlmm.config.", "kafka.metrics.")


class BrokerSettings(TypedValues):
    __slots__ = (
        "advertised_listeners",
        "cluster_dynamic",
        "controller_listeners",
        "inter_broker_listener",
        "listeners",
        "own_dynamic",
        "static",
    )

    static: Mapping[str, str]
    cluster_dynamic: Mapping[str, str]
    own_dynamic: Mapping[str, str]
    listeners: Mapping[str, Endpoint]
    advertised_listeners: Mapping[str, Endpoint]
    controller_listeners: Mapping[str, Endpoint]
    inter_broker_listener: str

    def __init__(
        self,
        static: Mapping[str, str],
        cluster_dynamic: Mapping[str, str] = _EMPTY,
        own_dynamic: Mapping[str, str] = _EMPTY,
    ) -> None:
        """SettingError in one sentence if a value is bad or two do not go together."""
        self.static = MappingProxyType(_with_both_ids(static))
        self.cluster_dynamic = MappingProxyType(dict(cluster_dynamic))
        self.own_dynamic = MappingProxyType(dict(own_dynamic))
        texts = {**self.static, **self.cluster_dynamic, **self.own_dynamic}
        _check_listener_keys(texts)
        super().__init__(
            {
                name: row.parse(texts[name]) if name in texts else row.default_value
                for name, row in BROKER_SETTINGS.items()
            }
        )
        resolved = listeners.resolve(self, texts)
        self.listeners = resolved.opened
        self.advertised_listeners = resolved.advertised
        self.controller_listeners = resolved.controllers
        self.inter_broker_listener = resolved.inter_broker
        requirements.check(self)
        plugins.check(self)

    @classmethod
    def parse(cls, mapping: Mapping[str, str]) -> tuple[BrokerSettings, tuple[str, ...]]:
        """The settings of a properties file, and a sentence for everything in it that has no effect."""
        warnings: list[str] = []
        known: dict[str, str] = {}
        for name, text in mapping.items():
            if name in _REPLACED:
                raise SettingError(
                    f"{name} is no longer a setting: write {_REPLACED[name]}=PLAINTEXT://host:port instead."
                )
            if name in _RENAMED:
                warnings.append(f"{name} is now called {_RENAMED[name]}; its value is used.")
                known.setdefault(_RENAMED[name], text)
                continue
            known[name] = text
            warnings += _warning(name)
        settings = cls(known)
        warnings += plugins.warnings(settings)
        return settings, tuple(warnings)

    def with_dynamic(self, cluster: Mapping[str, str], own: Mapping[str, str]) -> BrokerSettings:
        """The same broker after a dynamic change. The layers given replace the ones before."""
        return BrokerSettings(self.static, cluster, own)

    def listener_value(self, listener: str, name: str) -> Value:
        """The value for one listener: `listener.name.<listener>.<name>` wins over the bare name."""
        key = f"listener.name.{listener.lower()}.{name}"
        for layer in (self.own_dynamic, self.cluster_dynamic, self.static):
            if key in layer:
                row = base_row(key)
                assert row is not None, f"{name} is no broker setting"
                return row.parse(layer[key])
        return self._values.get(name)

    @property
    def broker_id(self) -> int | None:
        """None if neither `node.id` nor `broker.id` is given: then one is generated."""
        return self.optional_integer("node.id")

    @property
    def log_dirs(self) -> tuple[str, ...]:
        return self.names("log.dirs") or self.names("log.dir")

    @property
    def zookeeper_connect(self) -> str | None:
        """None: the metadata lives in the first log directory."""
        return self.optional_text("zookeeper.connect") or None

    @property
    def log_retention_ms(self) -> int:
        """-1 for ever; any negative number means that."""
        return max(-1, self._first("log.retention.ms", {"minutes": _MINUTE_MS, "hours": _HOUR_MS}))

    @property
    def log_roll_ms(self) -> int:
        return self._first("log.roll.ms", {"hours": _HOUR_MS})

    @property
    def log_roll_jitter_ms(self) -> int:
        return self._first("log.roll.jitter.ms", {"hours": _HOUR_MS})

    @property
    def log_flush_interval_ms(self) -> int:
        return self._first("log.flush.interval.ms", {})

    def _first(self, name: str, unit_ms: Mapping[str, int]) -> int:
        """The first of a family of settings that is set, in milliseconds."""
        for member in BROKER_SYNONYMS[name]:
            value = self.optional_integer(member)
            if value is not None:
                return value * unit_ms.get(member.rpartition(".")[2], 1)
        raise AssertionError(f"the last of {BROKER_SYNONYMS[name]} has a default")

    @property
    def connections_per_ip_overrides(self) -> dict[str, int]:
        name = "max.connections.per.ip.overrides"
        overrides = parse_map(name, self.text(name))
        for host, count in overrides.items():
            if re.fullmatch(r"[+-]?\d+", count) is None:
                raise refusal(name, self.text(name), f"{count} is no number of connections for {host}")
        return {host: int(count) for host, count in overrides.items()}

    @property
    def inter_broker_protocol(self) -> SecurityProtocol:
        return self.listeners[self.inter_broker_listener].security_protocol


def base_row(name: str) -> Setting | None:
    """The row behind a key, which may carry a listener (and a SASL mechanism) in front."""
    if name in BROKER_SETTINGS:
        return BROKER_SETTINGS[name]
    match = re.fullmatch(r"listener\.name\.[^.]+\.(?:[^.]+\.)?(sasl\..+)|listener\.name\.[^.]+\.(.+)", name)
    return None if match is None else BROKER_SETTINGS.get(match[1] or match[2])


def _with_both_ids(static: Mapping[str, str]) -> dict[str, str]:
    """`node.id` and `broker.id` stand for each other."""
    texts = dict(static)
    if "node.id" in texts:
        texts.setdefault("broker.id", texts["node.id"])
    elif "broker.id" in texts and parse_text("broker.id", Type.INT, texts["broker.id"]) != -1:
        texts["node.id"] = texts["broker.id"]
    return texts


def _check_listener_keys(texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        row = base_row(name)
        if row is not None and row.name != name:
            row.parse(text)


def _warning(name: str) -> list[str]:
    row = base_row(name)
    if row is not None:
        return [f"{name} is a setting of older versions; {row.retired}."] if row.retired else []
    if name.startswith(_FOREIGN_PREFIXES):
        return []
    import difflib  # only misspelt files pay for it

    nearest = difflib.get_close_matches(name, BROKER_SETTINGS, n=1)
    hint = f"; did you mean {nearest[0]}?" if nearest else "."
    return [f"{name} is not a known setting and has no effect{hint}"]
