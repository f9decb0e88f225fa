"""From settings to what a log and the log manager obey."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from barnabas.controller.liveness import ElectionRules
from barnabas.log.config import LogConfig
from barnabas.log.producer_state import ProducerSettings
from barnabas.log.upkeep import ManagerSettings
from barnabas.model.image import ClusterImage, ConfigKind
from barnabas.model.settings.broker import BrokerSettings
from barnabas.model.settings.table import TOPIC_SETTINGS
from barnabas.model.settings.topic import TopicSettings

_CONFIGS_REMEMBERED = 64


def log_config(settings: BrokerSettings, overrides: Mapping[str, str]) -> LogConfig:
    """The topic's own values over the broker's over the defaults. Partitions ask by the thousand, and most
    of them for the same."""
    return _log_config(settings, frozenset(overrides.items()))


@lru_cache(maxsize=_CONFIGS_REMEMBERED)
def _log_config(settings: BrokerSettings, overrides: frozenset[tuple[str, str]]) -> LogConfig:
    effective = TopicSettings(dict(overrides), settings)
    values: dict[str, object] = {name: effective[name] for name in TOPIC_SETTINGS}
    values["segment.bytes"] = effective.segment_bytes
    return LogConfig.from_settings(values)


def election_rules(settings: BrokerSettings, image: ClusterImage) -> Callable[[str], ElectionRules]:
    """What a topic's settings say of who may lead it."""

    @cache
    def rules(topic: str) -> ElectionRules:
        effective = TopicSettings(image.config(ConfigKind.TOPIC, topic), settings)
        return ElectionRules(
            effective.integer("min.insync.replicas"), effective.boolean("unclean.leader.election.enable")
        )

    return rules


def manager_settings(settings: BrokerSettings) -> ManagerSettings:
    return ManagerSettings(
        retention_check_interval_ms=settings.integer("log.retention.check.interval.ms"),
        flush_scheduler_interval_ms=settings.integer("log.flush.scheduler.interval.ms"),
        recovery_point_checkpoint_interval_ms=settings.integer("log.flush.offset.checkpoint.interval.ms"),
        log_start_checkpoint_interval_ms=settings.integer("log.flush.start.offset.checkpoint.interval.ms"),
        high_watermark_checkpoint_interval_ms=settings.integer(
            "replica.high.watermark.checkpoint.interval.ms"
        ),
        producer_expiration_check_interval_ms=settings.integer("producer.id.expiration.check.interval.ms"),
        producers=producer_settings(settings),
    )


def producer_settings(settings: BrokerSettings) -> ProducerSettings:
    return ProducerSettings(
        producer_id_expiration_ms=settings.integer("producer.id.expiration.ms"),
        transaction_verification=settings.boolean("transaction.partition.verification.enable"),
        transaction_timeout_ms_max=settings.integer("transaction.max.timeout.ms"),
    )
