"""The rows of the coordinators. The budget of each is to be ahead of Apache Kafka."""

from __future__ import annotations

from collections.abc import Callable

from bench.coordinators import read_committed
from bench.coordinators.commits import commits
from bench.coordinators.confluent import run as run_librdkafka
from bench.coordinators.groups import join, leave, with_default_timing
from bench.coordinators.members import classic_member, consumer_member
from bench.coordinators.transactions import transactions, transactions_without_back_off
from bench.rows import Figure, Figures, Row
from bench.scale import Scale
from bench.subject import Subject


def _less(key: str, unit: str) -> Figure:
    return Figure(key, unit, ratio_max=1)


def _more(key: str, unit: str) -> Figure:
    return Figure(key, unit, lower_is_better=False, ratio_min=1)


GROUP_FIGURES = (_less("time", "ms"), _less("CPU", "ms"))
# Mostly waiting that the settings ask for, the same for both: nothing to win, so no budget.
DEFAULT_FIGURES = tuple(Figure(key, "s") for key in ("join 1", "join 10", "join 50", "leave"))
COMMIT_FIGURES = (
    _more("rate", "commits/s"),
    _less("CPU per commit", "µs"),
    _less("p50", "µs"),
    Figure("p99", "µs"),
)
LATENCIES = (_less("p50", "µs"), Figure("p99", "µs"))
TRANSACTION_FIGURES = (
    _more("rate", "transactions/s"),
    _less("CPU per transaction", "µs"),
    *LATENCIES,
)
READ_FIGURES = (_more("throughput", "MB/s"), _less("CPU", "s/GB"))


def through_librdkafka(partitions: int) -> Callable[[Subject, Scale], Figures]:
    def run(subject: Subject, scale: Scale) -> Figures:
        topic = subject.fresh_topic(f"confluent-transactions-{partitions}", partitions=partitions)
        return run_librdkafka("transact", subject.bootstrap, topic, partitions, scale.seconds)

    return run


def _join_rows() -> list[Row]:
    return [
        Row(
            f"join{suffix}-{count}",
            f"join to first record, {count} {name} member{'s' if count > 1 else ''}",
            join(kind, count),
            GROUP_FIGURES,
        )
        for kind, suffix, name in ((classic_member, "", "classic"), (consumer_member, "-848", "KIP-848"))
        for count in (1, 10, 50)
    ]


ROWS = (
    *_join_rows(),
    Row("leave", "one of ten classic members leaves", leave(classic_member), GROUP_FIGURES),
    Row("leave-848", "one of ten KIP-848 members leaves", leave(consumer_member), GROUP_FIGURES),
    Row(
        "groups-default",
        "classic, with Kafka's delays of 3 s",
        with_default_timing(classic_member),
        DEFAULT_FIGURES,
        once=True,
    ),
    Row(
        "groups-default-848",
        "KIP-848, with Kafka's heartbeats of 5 s",
        with_default_timing(consumer_member),
        DEFAULT_FIGURES,
        once=True,
    ),
    Row("commits-1", "offset commits, 1 member", commits(1), COMMIT_FIGURES),
    Row("commits-16", "offset commits, 16 members of 16 groups", commits(16), COMMIT_FIGURES),
    Row(
        "transactions-1",
        "transactions of 100 records, 1 partition",
        transactions(partitions=1, producers=1),
        TRANSACTION_FIGURES,
    ),
    Row(
        "transactions-10",
        "transactions of 100 records, 10 partitions",
        transactions(partitions=10, producers=1),
        TRANSACTION_FIGURES,
    ),
    Row(
        "transactions-many",
        "the same, 10 producers at once",
        transactions(partitions=10, producers=10),
        TRANSACTION_FIGURES,
    ),
    Row(
        "transactions-eager",
        "the same, back-off of 1 ms in the broker",
        transactions_without_back_off(partitions=10, producers=10),
        TRANSACTION_FIGURES,
        once=True,
    ),
    Row(
        "transactions-librdkafka-1",
        "the same, confluent-kafka, 1 partition",
        through_librdkafka(1),
        (_more("rate", "transactions/s"), *LATENCIES),
    ),
    Row(
        "transactions-librdkafka-10",
        "the same, confluent-kafka, 10 partitions",
        through_librdkafka(10),
        (_more("rate", "transactions/s"), *LATENCIES),
    ),
    Row("read-committed", "read_committed, 10 % aborted, fetch 1 MiB", read_committed.fetched, READ_FIGURES),
    Row(
        "read-committed-librdkafka",
        "read_committed, 10 % aborted, confluent-kafka",
        read_committed.through_librdkafka,
        READ_FIGURES,
    ),
)
