"""What a group may set for itself; each falls back on the broker setting it is paired with."""

from __future__ import annotations

from barnabas.model.settings import checks
from barnabas.model.settings.checks import OneOf, Range
from barnabas.model.settings.row import Setting
from barnabas.model.settings.rows.words import (
    AT_LEAST_0,
    AT_LEAST_1,
    BOOLEAN,
    CLUSTER_WIDE,
    INT,
    MEDIUM,
    STRING,
)

# fmt: off
ROWS: tuple[Setting, ...] = (
    Setting("consumer.session.timeout.ms", INT, "45000", AT_LEAST_1, MEDIUM, CLUSTER_WIDE,
        "How long this consumer group waits for a silent member."),
    Setting("consumer.heartbeat.interval.ms", INT, "5000", AT_LEAST_1, MEDIUM, CLUSTER_WIDE,
        "How often members of this consumer group are told to report."),
    Setting("consumer.assignment.interval.ms", INT, "1000", AT_LEAST_0, MEDIUM, CLUSTER_WIDE,
        "The shortest time between two assignments of this consumer group."),
    Setting("share.session.timeout.ms", INT, "45000", AT_LEAST_1, MEDIUM, CLUSTER_WIDE,
        "How long this share group waits for a silent member."),
    Setting("share.heartbeat.interval.ms", INT, "5000", AT_LEAST_1, MEDIUM, CLUSTER_WIDE,
        "How often members of this share group are told to report."),
    Setting("share.record.lock.duration.ms", INT, "30000", Range(1000), MEDIUM, CLUSTER_WIDE,
        "How long a member may hold a record without acknowledging it."),
    Setting("share.delivery.count.limit", INT, "5", Range(2), MEDIUM, CLUSTER_WIDE,
        "How often a record is handed out before it is given up."),
    Setting("share.partition.max.record.locks", INT, "2000", Range(100), MEDIUM, CLUSTER_WIDE,
        "How many records of a partition may be held at the same time."),
    Setting("share.auto.offset.reset", STRING, "latest", checks.OffsetReset(), MEDIUM, CLUSTER_WIDE,
        "Where a new share group starts: `latest`, `earliest`, or a time ago such as `by_duration:PT1H`."),
    Setting("share.isolation.level", STRING, "read_uncommitted", OneOf("read_committed", "read_uncommitted"),
        MEDIUM, CLUSTER_WIDE,
        "Whether records of unfinished and aborted transactions are handed out."),
    Setting("share.renew.acknowledge.enable", BOOLEAN, "true", None, MEDIUM, CLUSTER_WIDE,
        "Whether a member may prolong its hold on a record."),
    Setting("share.assignment.interval.ms", INT, "1000", AT_LEAST_0, MEDIUM, CLUSTER_WIDE,
        "The shortest time between two assignments of this share group."),
    Setting("streams.session.timeout.ms", INT, "45000", AT_LEAST_1, MEDIUM, CLUSTER_WIDE,
        "How long this streams group waits for a silent member."),
    Setting("streams.heartbeat.interval.ms", INT, "5000", AT_LEAST_1, MEDIUM, CLUSTER_WIDE,
        "How often members of this streams group are told to report."),
    Setting("streams.num.standby.replicas", INT, "0", AT_LEAST_0, MEDIUM, CLUSTER_WIDE,
        "How many warm copies of each state store this group keeps."),
    Setting("streams.initial.rebalance.delay.ms", INT, "3000", AT_LEAST_0, MEDIUM, CLUSTER_WIDE,
        "How long this streams group waits for more members before its first assignment."),
    Setting("streams.assignment.interval.ms", INT, "1000", AT_LEAST_0, MEDIUM, CLUSTER_WIDE,
        "The shortest time between two assignments of this streams group."),
)
