"""Listeners, connections, and how much a peer may ask for."""

from __future__ import annotations

from barnabas.model.settings import checks
from barnabas.model.settings.checks import OneOf, Range
from barnabas.model.settings.row import Setting
from barnabas.model.settings.rows.words import (
    AT_LEAST_0,
    AT_LEAST_1,
    CLUSTER_WIDE,
    HIGH,
    INT,
    LIST,
    LONG,
    LOW,
    MEDIUM,
    PER_BROKER,
    READ_ONLY,
    STRING,
)

# fmt: off
ROWS: tuple[Setting, ...] = (
    Setting("listeners", LIST, "PLAINTEXT://:9092", checks.NON_EMPTY_LIST, HIGH, PER_BROKER,
        "The addresses to listen on, as `NAME://host:port`. An empty host is the default interface, "
        "0.0.0.0 all of them."),
    Setting("advertised.listeners", LIST, None, checks.NON_EMPTY_LIST, HIGH, READ_ONLY,
        "The addresses given to clients, where they differ from `listeners`. 0.0.0.0 cannot be "
        "advertised."),
    Setting("listener.security.protocol.map", STRING,
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", None, LOW, PER_BROKER,
        "Which security protocol each listener name speaks, as `NAME:PROTOCOL` pairs."),
    Setting("inter.broker.listener.name", STRING, None, None, MEDIUM, READ_ONLY,
        "The listener brokers use among themselves. Not together with `security.inter.broker.protocol`."),
    Setting("security.inter.broker.protocol", STRING,
        "PLAINTEXT", OneOf("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"), MEDIUM, READ_ONLY,
        "The security protocol brokers use among themselves, when no listener is named for it."),
    Setting("socket.send.buffer.bytes", INT, "102400", None, HIGH, READ_ONLY,
        "The kernel's send buffer of each connection; -1, or no line, leaves it to the system."),
    Setting("socket.receive.buffer.bytes", INT, "102400", None, HIGH, READ_ONLY,
        "The kernel's receive buffer of each connection; -1, or no line, leaves it to the system."),
    Setting("socket.request.max.bytes", INT, "104857600", AT_LEAST_1, HIGH, READ_ONLY,
        "The largest request a client may send. A longer one closes its connection."),
    Setting("socket.listen.backlog.size", INT, "50", AT_LEAST_1, MEDIUM, READ_ONLY,
        "How many connections may wait to be accepted."),
    Setting("socket.connection.setup.timeout.ms", LONG, "10000", None, MEDIUM, READ_ONLY,
        "How long the first attempt to connect to another broker may take."),
    Setting("socket.connection.setup.timeout.max.ms", LONG, "30000", None, MEDIUM, READ_ONLY,
        "The ceiling for that time, which grows with every failed attempt."),
    Setting("max.connections.per.ip", INT, "2147483647", AT_LEAST_0, MEDIUM, CLUSTER_WIDE,
        "How many connections one address may hold."),
    Setting("max.connections.per.ip.overrides", STRING, "", None, MEDIUM, CLUSTER_WIDE,
        "Addresses or host names with a limit of their own, as `host:count` pairs."),
    Setting("max.connections", INT, "2147483647", AT_LEAST_0, MEDIUM, CLUSTER_WIDE,
        "How many connections this broker holds. Further ones wait; between brokers they push out the "
        "most idle one."),
    Setting("max.connection.creation.rate", INT, "2147483647", AT_LEAST_0, MEDIUM, CLUSTER_WIDE,
        "How many connections per second this broker accepts; may be set per listener."),
    Setting("connections.max.idle.ms", LONG, "600000", None, MEDIUM, READ_ONLY,
        "Connections silent for this long are closed."),
    Setting("connection.failed.authentication.delay.ms", INT, "100", AT_LEAST_0, LOW, READ_ONLY,
        "How long a failed log-in is kept waiting before its connection is closed."),
    Setting("queued.max.requests", INT, "500", AT_LEAST_1, HIGH, READ_ONLY,
        "How many requests may wait before reading from the network pauses."),
    Setting("queued.max.request.bytes", LONG, "-1", None, MEDIUM, READ_ONLY,
        "How many bytes of requests may wait before reading from the network pauses; -1 means no limit."),
    Setting("num.network.threads", INT, "3", AT_LEAST_1, HIGH, CLUSTER_WIDE,
        "Threads that move bytes in Apache Kafka. One loop does it here; the number is accepted and has "
        "no effect."),
    Setting("num.io.threads", INT, "8", AT_LEAST_1, HIGH, CLUSTER_WIDE,
        "Threads that handle requests in Apache Kafka. One loop does it here; the number is accepted and "
        "has no effect."),
    Setting("background.threads", INT, "10", AT_LEAST_1, HIGH, CLUSTER_WIDE,
        "Threads for chores that block, such as flushing and reading cold data."),
    Setting("request.timeout.ms", INT, "30000", None, HIGH, READ_ONLY,
        "How long this broker waits for the answer to a request of its own."),
    Setting("max.incremental.fetch.session.cache.slots", INT, "1000", AT_LEAST_0, MEDIUM, READ_ONLY,
        "How many incremental fetch sessions are remembered."),
    Setting("fetch.max.bytes", INT, "57671680", Range(1024), MEDIUM, READ_ONLY,
        "The most bytes one fetch may return, whatever the consumer asks for."),
    Setting("max.request.partition.size.limit", INT, "2000", AT_LEAST_1, MEDIUM, READ_ONLY,
        "The most partitions one answer to DescribeTopicPartitions may hold."),
    Setting("fetch.purgatory.purge.interval.requests", INT, "1000", None, MEDIUM, READ_ONLY,
        "After how many completed fetches the list of parked ones is swept."),
    Setting("producer.purgatory.purge.interval.requests", INT, "1000", None, MEDIUM, READ_ONLY,
        "After how many completed produce requests the list of parked ones is swept."),
    Setting("delete.records.purgatory.purge.interval.requests", INT, "1", None, MEDIUM, READ_ONLY,
        "After how many completed DeleteRecords requests the list of parked ones is swept."),
)
