"""Transactions and idempotent producers."""

from __future__ import annotations

from barnabas.model.settings.row import Setting
from barnabas.model.settings.rows.words import (
    AT_LEAST_0,
    AT_LEAST_1,
    BOOLEAN,
    CLUSTER_WIDE,
    HIGH,
    INT,
    LOW,
    READ_ONLY,
    SHORT,
)

# fmt: off
ROWS: tuple[Setting, ...] = (
    Setting("transaction.state.log.min.isr", INT, "2", AT_LEAST_1, HIGH, READ_ONLY,
        "How many replicas must hold a record of `__transaction_state`."),
    Setting("transaction.state.log.load.buffer.size", INT, "5242880", AT_LEAST_1, HIGH, READ_ONLY,
        "How much is read at a time when a transaction coordinator loads its state."),
    Setting("transaction.state.log.replication.factor", SHORT, "3", AT_LEAST_1, HIGH, READ_ONLY,
        "How many replicas `__transaction_state` is created with."),
    Setting("transaction.state.log.num.partitions", INT, "50", AT_LEAST_1, HIGH, READ_ONLY,
        "How many partitions `__transaction_state` has; not to be changed once it exists."),
    Setting("transaction.state.log.segment.bytes", INT, "104857600", AT_LEAST_1, HIGH, READ_ONLY,
        "The segment size of `__transaction_state`, small so that it compacts and loads fast."),
    Setting("transaction.partition.verification.enable", BOOLEAN, "true", None, LOW, CLUSTER_WIDE,
        "Whether a partition asks the coordinator if a transaction is really under way before it takes "
        "its records."),
    Setting("transaction.max.timeout.ms", INT, "900000", AT_LEAST_1, HIGH, READ_ONLY,
        "The longest transaction timeout a producer may ask for."),
    Setting("transaction.abort.timed.out.transaction.cleanup.interval.ms", INT, "10000", AT_LEAST_1,
        LOW, READ_ONLY,
        "How often transactions that ran out of time are looked for."),
    Setting("transaction.remove.expired.transaction.cleanup.interval.ms", INT, "3600000", AT_LEAST_1,
        LOW, READ_ONLY,
        "How often transactional ids that nobody uses are looked for."),
    Setting("transaction.two.phase.commit.enable", BOOLEAN, "false", None, LOW, READ_ONLY,
        "Whether a producer may keep a prepared transaction open without a timeout."),
    Setting("transactional.id.expiration.ms", INT, "604800000", AT_LEAST_1, HIGH, READ_ONLY,
        "How long an unused transactional id is remembered."),
    Setting("producer.id.expiration.ms", INT, "86400000", AT_LEAST_1, LOW, CLUSTER_WIDE,
        "How long a partition remembers the sequence of an idle producer; not below the time a producer "
        "retries."),
    Setting("producer.id.expiration.check.interval.ms", INT, "600000", AT_LEAST_1, LOW, READ_ONLY,
        "How often forgotten producers are looked for.", internal=True),
    Setting("add.partitions.to.txn.retry.backoff.max.ms", INT, "100", AT_LEAST_0, HIGH, READ_ONLY,
        "The longest a broker keeps trying while an earlier transaction of the producer is being "
        "finished."),
    Setting("add.partitions.to.txn.retry.backoff.ms", INT, "20", AT_LEAST_1, HIGH, READ_ONLY,
        "The pause between two such tries."),
)
