"""What kafka-transactions prints, and which transactions it takes for hanging."""

from __future__ import annotations

import pytest

from barnabas.cli.parts import transactions_tables as tables
from barnabas.cli.parts.transactions_options import parser
from barnabas.cli.parts.transactions_tables import Open
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.describe_producers import ProducerState
from barnabas.wire.admin.transactions import Abort, Listed, Transaction

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def producer(producer_id: int, start: int = 5, last_ms: int = 1000) -> ProducerState:
    return ProducerState(producer_id, 1, 7, last_ms, -1, start)


def transaction(*partitions: TopicPartition, started_at_ms: int | None = 400) -> Transaction:
    return Transaction("tx", 1, 9, 2, "Ongoing", 60_000, started_at_ms, frozenset(partitions))


def test_cells_are_as_wide_as_their_column_and_end_in_a_tab() -> None:
    listed = [Listed("a-long-transactional-id", 1, 1000, "Ongoing")]
    assert list(tables.table(tables.LIST, tables.list_rows(listed))) == [
        "TransactionalId        \tCoordinator\tProducerId\tTransactionState\t",
        "a-long-transactional-id\t1          \t1000      \tOngoing         \t",
    ]
    assert list(tables.table(tables.LIST, [])) == [
        "TransactionalId\tCoordinator\tProducerId\tTransactionState\t"
    ]


def test_a_transaction_shows_how_long_it_is_open() -> None:
    assert tables.describe_row(transaction(T1, T0), 1000)[4:] == ("Ongoing", 60_000, 400, 600, "t-0,t-1")
    assert tables.describe_row(transaction(started_at_ms=None), 1000)[6:] == ("None", "None", "")


def test_a_producer_without_a_transaction_has_none() -> None:
    rows = list(tables.producer_rows([producer(1), producer(2, start=-1)]))
    assert [row[-1] for row in rows] == [5, "None"]


def test_only_what_is_open_too_long_is_a_candidate() -> None:
    producers = [producer(1, last_ms=0), producer(2, last_ms=900), producer(3, start=-1, last_ms=0)]
    found = tables.open_too_long(T0, producers, now_ms=1000, longest_ms=500)
    assert [one.producer.producer_id for one in found] == [1]


def test_a_transaction_hangs_when_no_coordinator_will_end_it() -> None:
    candidates = [
        Open(T0, producer(1)),
        Open(T1, producer(1)),
        Open(T0, producer(2)),
        Open(T0, producer(3)),
    ]
    ids = {1: "known", 2: "forgotten"}
    found = tables.hanging(candidates, ids, {"known": transaction(T0), "forgotten": None})
    assert [(one.partition, one.producer.producer_id) for one in found] == [(T1, 1), (T0, 2), (T0, 3)]


def test_a_hanging_transaction_shows_its_age_in_minutes() -> None:
    (row,) = tables.hanging_rows([Open(T0, producer(1, last_ms=1000))], now_ms=1000 + 5 * 60_000 + 59_999)
    assert row == ("t", 0, 1, 1, -1, 5, 1000, 5)


def test_what_to_abort_is_named_as_kafka_names_it() -> None:
    assert str(Abort(T0, 7, 1, 0)) == (
        "AbortTransactionSpec(topicPartition=t-0, producerId=7, producerEpoch=1, coordinatorEpoch=0)"
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", "too few arguments"),
        ("list", "argument --bootstrap-server is required"),
        ("--bootstrap-server b describe", "argument --transactional-id is required"),
        (
            "--bootstrap-server b list --duration-filter x",
            "argument --duration-filter: could not convert 'x' to Long (For input string: \"x\")",
        ),
        (
            "--bootstrap-server b describe-producers --topic t --partition 2147483648",
            "argument --partition: could not convert '2147483648' to Integer "
            '(For input string: "2147483648")',
        ),
        ("--bootstrap-server b list --foo", "unrecognized arguments: '--foo'"),
    ],
)
def test_a_mistake_is_answered_with_the_usage_and_exit_code_one(
    line: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parser().parse_args(line.split())
    assert caught.value.code == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("usage: kafka-transactions.sh ")
    assert said[-1] == f"kafka-transactions.sh: error: {problem}"


def test_numbers_below_zero_are_numbers_not_options() -> None:
    asked = parser().parse_args(["--bootstrap-server", "b", "list", "--duration-filter", "-1"])
    assert asked.duration_filter == -1
