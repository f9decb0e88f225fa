"""Which batches of a query are already written: told by the same transactions that wrote them.

A private group, `<transactional id>-sink`, holds offset = batch id + 1 and metadata = query id, committed
inside each batch's transaction and by nothing else. Spark writes its own commit log after that: a crash in
between makes it run the batch again, and the ledger knows better. Batch ids start again at 0 with a new
checkpoint, and so does the query id change: both must match.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from barnabas.model.ids import TopicPartition
from barnabas.wire.transactions import LedgerRow


class Entry(NamedTuple):
    """One batch of one query."""

    query_id: str
    batch_id: int

    @property
    def row(self) -> LedgerRow:
        return LedgerRow(self.batch_id + 1, self.query_id)


def group_of(transactional_id: str) -> str:
    return f"{transactional_id}-sink"


def is_written(entry: Entry, ledger: Mapping[TopicPartition, LedgerRow] | Iterable[LedgerRow]) -> bool:
    """A query that changes its topics leaves rows behind with the older ones: any row may be the newest."""
    rows = ledger.values() if isinstance(ledger, Mapping) else ledger
    return any(row.metadata == entry.query_id and row.offset > entry.batch_id for row in rows)
