"""What DescribeConfigs says: value, source, synonyms, type, whether it may change, what it is for.

Synonyms are listed by source, the winning one first. As in Kafka, what stands before the setting's own name
is dropped, so `retention.ms` shows nothing of a broker that only sets `log.retention.hours`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from barnabas.model.config_numbers import Source
from barnabas.model.settings.broker import BrokerSettings, base_row
from barnabas.model.settings.row import Mode, Setting
from barnabas.model.settings.table import (
    BROKER_SETTINGS,
    BROKER_SYNONYMS,
    CLIENT_METRICS_SETTINGS,
    GROUP_SETTINGS,
    GROUP_SYNONYMS,
    TOPIC_SETTINGS,
    TOPIC_SYNONYMS,
    ZOOKEEPER_NAMES,
)
from barnabas.model.settings.topic import inherited
from barnabas.model.settings.values import Type, to_text

_TYPE_IDS = {
    Type.BOOLEAN: 1,
    Type.STRING: 2,
    Type.INT: 3,
    Type.SHORT: 4,
    Type.LONG: 5,
    Type.DOUBLE: 6,
    Type.LIST: 7,
    Type.CLASS: 8,
    Type.PASSWORD: 9,
}
_UNKNOWN_TYPE_ID = 0


class DescribedSynonym(NamedTuple):
    name: str
    value: str | None
    source: Source


class Described(NamedTuple):
    name: str
    value: str | None  # None for secrets, and for what is not set
    source: Source
    sensitive: bool
    read_only: bool
    synonyms: tuple[DescribedSynonym, ...]
    type_id: int
    documentation: str


def describe_topic(overrides: Mapping[str, str], broker: BrokerSettings) -> list[Described]:
    described = []
    for name, row in TOPIC_SETTINGS.items():
        if row.internal and name not in overrides:
            continue
        own = _override(row, overrides, Source.DYNAMIC_TOPIC_CONFIG)
        synonyms = TOPIC_SYNONYMS.get(name)
        below = broker_synonyms(synonyms[0].name, broker) if synonyms else ()
        value = own[0].value if own else to_text(inherited(name, broker))
        described.append(_entry(row, value, (*own, *below)))
    return described


def describe_group(overrides: Mapping[str, str], broker: BrokerSettings) -> list[Described]:
    described = []
    for name, row in GROUP_SETTINGS.items():
        synonyms = GROUP_SYNONYMS.get(name)
        value = to_text(broker[synonyms[0].name]) if synonyms else row.default
        below = (
            broker_synonyms(synonyms[0].name, broker)
            if synonyms
            else (DescribedSynonym(name, row.default, Source.DEFAULT_CONFIG),)
        )
        own = _override(row, overrides, Source.DYNAMIC_GROUP_CONFIG)
        described.append(_entry(row, own[0].value if own else value, (*own, *below)))
    return described


def describe_client_metrics(overrides: Mapping[str, str]) -> list[Described]:
    source = Source.DYNAMIC_CLIENT_METRICS_CONFIG
    return [
        _entry(row, overrides.get(row.name, row.default), _override(row, overrides, source))
        for row in CLIENT_METRICS_SETTINGS.values()
    ]


def describe_broker(broker: BrokerSettings) -> list[Described]:
    """Everything this broker goes by, and whatever else its file or a tool has set."""
    set_names = {*broker.static, *broker.cluster_dynamic, *broker.own_dynamic}
    on_zookeeper = broker.zookeeper_connect is not None
    shown = [
        name
        for name, row in BROKER_SETTINGS.items()
        if name in set_names or (not row.internal and (on_zookeeper or name not in ZOOKEEPER_NAMES))
    ]
    unlisted = sorted(name for name in set_names if name not in BROKER_SETTINGS)
    return [_broker_entry(name, broker, cluster_only=False) for name in [*shown, *unlisted]]


def describe_cluster_defaults(broker: BrokerSettings) -> list[Described]:
    """The broker resource with an empty name: only what was set for all brokers."""
    return [_broker_entry(name, broker, cluster_only=True) for name in broker.cluster_dynamic]


def broker_synonyms(name: str, broker: BrokerSettings) -> tuple[DescribedSynonym, ...]:
    names = _family(name)
    row = base_row(name)
    secret = row is None or row.sensitive
    layers: tuple[tuple[Source, Mapping[str, str]], ...] = (
        (Source.DYNAMIC_BROKER_CONFIG, broker.own_dynamic),
        (Source.DYNAMIC_DEFAULT_BROKER_CONFIG, broker.cluster_dynamic),
        (Source.STATIC_BROKER_CONFIG, broker.static),
        (Source.DEFAULT_CONFIG, _defaults(names)),
    )
    found = [
        DescribedSynonym(each, None if secret else layer[each], source)
        for source, layer in layers
        for each in names
        if each in layer
    ]
    own = next((at for at, synonym in enumerate(found) if synonym.name == name), len(found))
    return tuple(found[own:])


def _family(name: str) -> tuple[str, ...]:
    """The names that can speak for a broker setting; a listener's key is followed by the bare one."""
    if name in BROKER_SYNONYMS:
        return BROKER_SYNONYMS[name]
    row = base_row(name)
    return (name,) if row is None or row.name == name else (name, row.name)


def _defaults(names: Iterable[str]) -> dict[str, str]:
    rows = [BROKER_SETTINGS[name] for name in names if name in BROKER_SETTINGS]
    return {row.name: row.default for row in rows if row.default is not None}


def _override(row: Setting, overrides: Mapping[str, str], source: Source) -> tuple[DescribedSynonym, ...]:
    if row.name not in overrides:
        return ()
    return (DescribedSynonym(row.name, to_text(row.parse(overrides[row.name])), source),)


def _entry(row: Setting, value: str | None, synonyms: tuple[DescribedSynonym, ...]) -> Described:
    source = synonyms[0].source if synonyms else Source.DEFAULT_CONFIG
    return Described(row.name, value, source, row.sensitive, False, synonyms, _TYPE_IDS[row.type], row.doc)


def _broker_entry(name: str, broker: BrokerSettings, *, cluster_only: bool) -> Described:
    synonyms = broker_synonyms(name, broker)
    if cluster_only:
        synonyms = tuple(s for s in synonyms if s.source is Source.DYNAMIC_DEFAULT_BROKER_CONFIG)
    source = synonyms[0].source if synonyms else Source.DEFAULT_CONFIG
    row = base_row(name)
    if row is None:
        # What nobody knows the type of might be a password.
        return Described(name, None, source, True, True, synonyms, _UNKNOWN_TYPE_ID, "")
    value = synonyms[0].value if row.name != name or cluster_only else to_text(broker[name])
    read_only = row.mode is Mode.READ_ONLY or row.name != name
    shown = None if row.sensitive else value
    return Described(name, shown, source, row.sensitive, read_only, synonyms, _TYPE_IDS[row.type], row.doc)
