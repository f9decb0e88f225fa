"""DescribeTransactions and ListTransactions: what a coordinator tells of its transactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import re2

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.describe_transactions import TopicData
from barnabas.protocol.messages.describe_transactions import TransactionState as Described
from barnabas.protocol.messages.list_transactions import ListTransactionsRequest
from barnabas.protocol.messages.list_transactions import TransactionState as Listed
from barnabas.transactions.states import BY_LABEL
from barnabas.transactions.transaction import Transaction, by_topic


def describe(transactional_id: str, transaction: Transaction | None) -> Described:
    if transaction is None:
        return Described(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, transactional_id)
    return Described(
        0,
        transactional_id,
        transaction.state.label,
        transaction.timeout_ms,
        transaction.start_ms,
        transaction.producer_id,
        transaction.producer_epoch,
        [TopicData(topic, indexes) for topic, indexes in by_topic(transaction.partitions).items()],
    )


def unknown_states(names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name not in BY_LABEL]


class Filter:
    """Which transactions a client asked for; what it did not name does not limit."""

    def __init__(self, request: ListTransactionsRequest, now_ms: int) -> None:
        self._states = {BY_LABEL.get(name) for name in request.state_filters}
        self._producer_ids = frozenset(request.producer_id_filters)
        self._duration_ms = request.duration_filter
        self._now_ms = now_ms
        self._pattern = _compiled(request.transactional_id_pattern)

    def listed(self, transactions: Iterable[Transaction]) -> Iterator[Listed]:
        for one in transactions:
            if self._wants(one):
                yield Listed(one.transactional_id, one.producer_id, one.state.label)

    def _wants(self, one: Transaction) -> bool:
        return not (
            (self._producer_ids and one.producer_id not in self._producer_ids)
            or (self._states and one.state not in self._states)
            or (self._duration_ms >= 0 and self._now_ms - one.start_ms <= self._duration_ms)
            or (self._pattern is not None and self._pattern.fullmatch(one.transactional_id) is None)
        )


def _compiled(pattern: str | None) -> re2._Regexp | None:
    """RE2 and not `re`: a pattern from a client must not hang the broker."""
    if not pattern:
        return None
    try:
        return re2.compile(pattern)
    except re2.error as problem:
        raise ApiError(ErrorCode.INVALID_REGULAR_EXPRESSION, str(problem)) from None
