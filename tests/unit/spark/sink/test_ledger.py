"""A batch is skipped only if this very query has written it."""

from __future__ import annotations

import pytest

from barnabas.spark.sink.ledger import Entry, group_of, is_written
from barnabas.wire.transactions import LedgerRow


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], False),
        ([LedgerRow(8, "query")], True),
        ([LedgerRow(9, "query")], True),
        ([LedgerRow(7, "query")], False),
        ([LedgerRow(8, "another query")], False),
        ([LedgerRow(3, "query"), LedgerRow(8, "query")], True),
        ([LedgerRow(3, "query"), LedgerRow(100, "another query")], False),
    ],
)
def test_query_and_batch_must_both_match(rows: list[LedgerRow], expected: bool) -> None:
    assert is_written(Entry("query", 7), rows) is expected


def test_an_entry_is_found_again_by_itself_and_not_by_the_next_batch() -> None:
    row = Entry("query", 0).row
    assert is_written(Entry("query", 0), [row])
    assert not is_written(Entry("query", 1), [row])


def test_the_ledger_is_a_group_named_after_the_transactional_id() -> None:
    assert group_of("payments") == "payments-sink"
