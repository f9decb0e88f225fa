"""Transactions as the cleaner meets them on its way through the log.

A marker is needed as long as a batch of its transaction is in the log. When a pass finds none, the marker
gets a delete horizon, and a pass after that horizon drops it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from barnabas.log.transaction_index import AbortedTransaction
from barnabas.records.batch import BatchHeader
from barnabas.records.control import EndTransactionMarker, parse_control
from barnabas.records.walk import records_of

_CONTROL_BYTES_MAX = 1 << 16


class CleanedTransactions:
    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._ahead = deque(sorted(aborted, key=lambda one: one.first_offset))
        # Producer id → its aborted transaction, and whether a batch of it was met.
        self._aborting: dict[int, tuple[AbortedTransaction, bool]] = {}
        self._committing: set[int] = set()

    def meet_data(self, header: BatchHeader) -> bool:
        """True if the batch was aborted."""
        self._advance(header.last_offset)
        if not header.is_transactional:
            return False
        aborting = self._aborting.get(header.producer_id)
        if aborting is None:
            self._committing.add(header.producer_id)
            return False
        self._aborting[header.producer_id] = (aborting[0], True)
        return True

    def meet_control(self, data: bytes, header: BatchHeader) -> tuple[bool, AbortedTransaction | None]:
        """Whether the marker is no longer needed, and the transaction to keep in the index if it is."""
        self._advance(header.last_offset)
        record = next(records_of(data, 0, header, _CONTROL_BYTES_MAX), None)
        if record is None:
            return True, None  # emptied by an earlier pass
        control = parse_control(record)
        if not isinstance(control, EndTransactionMarker):
            return False, None
        if control.committed:
            needed = header.producer_id in self._committing
            self._committing.discard(header.producer_id)
            return not needed, None
        aborted, met = self._aborting.pop(header.producer_id, (None, False))
        return (False, aborted) if met else (True, None)

    def _advance(self, offset: int) -> None:
        while self._ahead and self._ahead[0].first_offset <= offset:
            aborted = self._ahead.popleft()
            self._aborting.setdefault(aborted.producer_id, (aborted, False))
