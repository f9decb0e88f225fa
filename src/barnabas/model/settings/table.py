"""All rows by name, per scope, in the order the docs print them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from barnabas.model.settings.row import Scope, Setting, Synonym
from barnabas.model.settings.rows import (
    client_metrics,
    group,
    groups,
    log,
    network,
    node,
    oauth,
    operations,
    remote,
    replication,
    retired,
    security,
    shares,
    topic,
    transactions,
    zookeeper,
)


def _by_name(*areas: Iterable[Setting]) -> Mapping[str, Setting]:
    return MappingProxyType({row.name: row for area in areas for row in area})


# The areas of the broker, as the docs order them.
BROKER_AREAS: Mapping[str, tuple[Setting, ...]] = MappingProxyType(
    {
        "Node": node.ROWS,
        "Network": network.ROWS,
        "Log": log.ROWS,
        "Replication": replication.ROWS,
        "Groups": groups.ROWS,
        "Share groups": shares.ROWS,
        "Transactions": transactions.ROWS,
        "Security": security.ROWS,
        "OAUTHBEARER": oauth.ROWS,
        "Tiered storage": remote.ROWS,
        "Operations": operations.ROWS,
        "ZooKeeper": zookeeper.ROWS,
        "Keys of older versions": retired.ROWS,
    }
)
BROKER_SETTINGS = _by_name(*BROKER_AREAS.values())
ZOOKEEPER_NAMES = frozenset(row.name for row in zookeeper.ROWS)
TOPIC_SETTINGS = _by_name(topic.ROWS)
GROUP_SETTINGS = _by_name(group.ROWS)
CLIENT_METRICS_SETTINGS = _by_name(client_metrics.ROWS)

SETTINGS: Mapping[Scope, Mapping[str, Setting]] = MappingProxyType(
    {
        Scope.BROKER: BROKER_SETTINGS,
        Scope.TOPIC: TOPIC_SETTINGS,
        Scope.GROUP: GROUP_SETTINGS,
        Scope.CLIENT_METRICS: CLIENT_METRICS_SETTINGS,
    }
)

_HOUR_MS = 3_600_000
_MINUTE_MS = 60_000

# The broker settings a topic setting falls back on, the one that wins first.
TOPIC_SYNONYMS: Mapping[str, tuple[Synonym, ...]] = MappingProxyType(
    {
        "segment.bytes": (Synonym("log.segment.bytes"),),
        "segment.ms": (Synonym("log.roll.ms"), Synonym("log.roll.hours", _HOUR_MS)),
        "segment.jitter.ms": (Synonym("log.roll.jitter.ms"), Synonym("log.roll.jitter.hours", _HOUR_MS)),
        "segment.index.bytes": (Synonym("log.index.size.max.bytes"),),
        "flush.messages": (Synonym("log.flush.interval.messages"),),
        "flush.ms": (Synonym("log.flush.interval.ms"), Synonym("log.flush.scheduler.interval.ms")),
        "retention.bytes": (Synonym("log.retention.bytes"),),
        "retention.ms": (
            Synonym("log.retention.ms"),
            Synonym("log.retention.minutes", _MINUTE_MS),
            Synonym("log.retention.hours", _HOUR_MS),
        ),
        "max.message.bytes": (Synonym("message.max.bytes"),),
        "index.interval.bytes": (Synonym("log.index.interval.bytes"),),
        "delete.retention.ms": (Synonym("log.cleaner.delete.retention.ms"),),
        "min.compaction.lag.ms": (Synonym("log.cleaner.min.compaction.lag.ms"),),
        "max.compaction.lag.ms": (Synonym("log.cleaner.max.compaction.lag.ms"),),
        "file.delete.delay.ms": (Synonym("log.segment.delete.delay.ms"),),
        "min.cleanable.dirty.ratio": (Synonym("log.cleaner.min.cleanable.ratio"),),
        "cleanup.policy": (Synonym("log.cleanup.policy"),),
        "unclean.leader.election.enable": (Synonym("unclean.leader.election.enable"),),
        "min.insync.replicas": (Synonym("min.insync.replicas"),),
        "compression.type": (Synonym("compression.type"),),
        "compression.gzip.level": (Synonym("compression.gzip.level"),),
        "compression.lz4.level": (Synonym("compression.lz4.level"),),
        "compression.zstd.level": (Synonym("compression.zstd.level"),),
        "preallocate": (Synonym("log.preallocate"),),
        "message.timestamp.type": (Synonym("log.message.timestamp.type"),),
        "message.timestamp.before.max.ms": (Synonym("log.message.timestamp.before.max.ms"),),
        "message.timestamp.after.max.ms": (Synonym("log.message.timestamp.after.max.ms"),),
        "local.retention.ms": (Synonym("log.local.retention.ms"),),
        "local.retention.bytes": (Synonym("log.local.retention.bytes"),),
    }
)

# The broker setting a group setting falls back on; some have none.
GROUP_SYNONYMS: Mapping[str, tuple[Synonym, ...]] = MappingProxyType(
    {
        row.name: (Synonym(f"group.{row.name}"),)
        for row in group.ROWS
        if f"group.{row.name}" in BROKER_SETTINGS
    }
)

_BROKER_FAMILIES = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)

# Broker settings that say one thing in several units, the one that wins first.
BROKER_SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {name: family for family in _BROKER_FAMILIES for name in family}
    | {"log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")}
)
