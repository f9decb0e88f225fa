"""Metrics, quotas, and values that come from elsewhere."""

from __future__ import annotations

from barnabas.model.settings import checks
from barnabas.model.settings.row import Setting
from barnabas.model.settings.rows.words import (
    AT_LEAST_1,
    CLASS,
    CLUSTER_WIDE,
    INT,
    LIST,
    LONG,
    LOW,
    READ_ONLY,
    STRING,
)

# fmt: off
ROWS: tuple[Setting, ...] = (
    Setting("config.providers", LIST, "", checks.ANY_LIST, LOW, CLUSTER_WIDE,
        "Names of providers that fill in `${provider:path:key}` in values; each needs its own settings."),
    Setting("metrics.num.samples", INT, "2", AT_LEAST_1, LOW, READ_ONLY,
        "How many samples a metric is computed from."),
    Setting("metrics.sample.window.ms", LONG, "30000", AT_LEAST_1, LOW, READ_ONLY,
        "The length of one sample."),
    Setting("metrics.recording.level", STRING, "INFO", None, LOW, READ_ONLY,
        "How detailed metrics are: `INFO`, `DEBUG` or `TRACE`."),
    Setting("metric.reporters", LIST, "org.apache.kafka.common.metrics.JmxReporter", checks.ANY_LIST,
        LOW, CLUSTER_WIDE,
        "Classes that export metrics. Java classes cannot be loaded here."),
    Setting("kafka.metrics.reporters", LIST, "", checks.ANY_LIST, LOW, READ_ONLY,
        "Classes that export the older kind of metrics. Java classes cannot be loaded here."),
    Setting("kafka.metrics.polling.interval.secs", INT, "10", AT_LEAST_1, LOW, READ_ONLY,
        "How often such a reporter looks."),
    Setting("telemetry.max.bytes", INT, "1048576", AT_LEAST_1, LOW, READ_ONLY,
        "The most bytes of metrics a client may push at a time."),
    Setting("client.quota.callback.class", CLASS, None, None, LOW, READ_ONLY,
        "A class that decides client quotas. Java classes cannot be loaded here."),
    Setting("quota.window.num", INT, "11", AT_LEAST_1, LOW, READ_ONLY,
        "How many windows a client's quota is averaged over."),
    Setting("quota.window.size.seconds", INT, "1", AT_LEAST_1, LOW, READ_ONLY,
        "The length of each such window."),
    Setting("replication.quota.window.num", INT, "11", AT_LEAST_1, LOW, READ_ONLY,
        "How many windows a replication quota is averaged over."),
    Setting("replication.quota.window.size.seconds", INT, "1", AT_LEAST_1, LOW, READ_ONLY,
        "The length of each such window."),
    Setting("alter.log.dirs.replication.quota.window.num", INT, "11", AT_LEAST_1, LOW, READ_ONLY,
        "How many windows the quota for moves between log directories is averaged over."),
    Setting("alter.log.dirs.replication.quota.window.size.seconds", INT, "1", AT_LEAST_1, LOW, READ_ONLY,
        "The length of each such window."),
    Setting("controller.quota.window.num", INT, "11", AT_LEAST_1, LOW, READ_ONLY,
        "How many windows the quota for changes of topics is averaged over."),
    Setting("controller.quota.window.size.seconds", INT, "1", AT_LEAST_1, LOW, READ_ONLY,
        "The length of each such window."),
)
