"""What time does to transactions: an open one runs out, an id that nobody uses is forgotten."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, TypeAlias

from barnabas.coordination.outcome import NOTHING, Outcome
from barnabas.model.errors import ApiError
from barnabas.transactions.host import TransactionHost
from barnabas.transactions.states import AT_REST
from barnabas.transactions.transaction import Transaction, tombstone

if TYPE_CHECKING:
    from barnabas.transactions.shard import TransactionShard

_ABORT: Final = "abort what ran out of time"
_EXPIRE: Final = "forget unused ids"
_APART_MS: Final = 100
# In one batch: small enough for any `max.message.bytes` that lets a transaction's own record through.
_TOMBSTONES_BYTES_MAX: Final = 16 << 10

_Identity: TypeAlias = tuple[str, int, int]


def _identity(transaction: Transaction) -> _Identity:
    """An owner may have many transactions, one after the other."""
    return transaction.transactional_id, transaction.producer_epoch, transaction.start_ms


class Upkeep:
    def __init__(self, shard: TransactionShard, host: TransactionHost) -> None:
        self._shard = shard
        self._host = host
        self._first_looks_ms: dict[_Identity, int] = {}  # at open transactions, by the clock that never jumps

    def start(self) -> None:
        self._again(_ABORT)
        # Not all shards of a broker at once: each looks at everything it has.
        self._again(_EXPIRE, later_ms=_APART_MS * self._shard.partition)

    def _again(self, what: str, later_ms: int = 0) -> None:
        name, operation = (
            ("transaction.abort.timed.out.transaction.cleanup.interval.ms", self.abort_late)
            if what is _ABORT
            else ("transaction.remove.expired.transaction.cleanup.interval.ms", self.expire)
        )
        self._host.timers.schedule(what, self._host.settings.integer(name) + later_ms, operation)

    # --- timeouts ------------------------------------------------------------------------------------------

    def abort_late(self) -> Outcome:
        ongoing = [self._shard.transactions[name] for name in self._shard.ongoing]
        looks = self._first_looks_ms
        self._first_looks_ms = {
            _identity(one): looks.get(_identity(one), self._host.now_ms) for one in ongoing
        }
        return self._abort_next(deque(one.transactional_id for one in ongoing if self._is_late(one)))

    def _is_late(self, transaction: Transaction) -> bool:
        """By the wall clock, as it began; but a clock that was set back does not keep it open any longer than
        its time since we know of it."""
        if transaction.is_late(self._host.wall_ms):
            return True
        known_ms = self._first_looks_ms.get(_identity(transaction))
        return known_ms is not None and transaction.is_late(
            transaction.start_ms + self._host.now_ms - known_ms
        )

    def _abort_next(self, late: deque[str]) -> Outcome:
        """One at a time, each in its own batch: a large one must not hinder the others."""
        while late:
            transactional_id = late.popleft()
            transaction = self._shard.transactions.get(transactional_id)
            if transaction is None or transactional_id in self._shard.new_ids:
                continue
            if self._is_late(transaction):
                self._host.timers.schedule(_ABORT, 0, lambda: self._abort_next(late))
                return self._fence(transaction)
        self._again(_ABORT)
        return NOTHING

    def _fence(self, transaction: Transaction) -> Outcome:
        try:
            return self._shard.fence(transaction)
        except ApiError:
            return NOTHING  # no producer id to be had now: it is as late at the next look

    # --- expiry --------------------------------------------------------------------------------------------

    def expire(self) -> Outcome:
        unused_since_ms = self._host.wall_ms - self._host.settings.integer("transactional.id.expiration.ms")
        entries, size = [], 0
        for transaction in self._shard.transactions.values():
            if self._is_unused(transaction, unused_since_ms):
                entries.append(tombstone(transaction.transactional_id))
                size += len(transaction.transactional_id.encode())
                if size > _TOMBSTONES_BYTES_MAX:
                    self._host.timers.schedule(_EXPIRE, 0, self.expire)
                    return Outcome(entries=entries, refused=self._not_now)
        self._again(_EXPIRE)
        return Outcome(entries=entries)

    def _is_unused(self, transaction: Transaction, since_ms: int) -> bool:
        return (
            transaction.state in AT_REST
            and transaction.updated_ms <= since_ms
            and transaction.transactional_id not in self._shard.new_ids
        )

    def _not_now(self, _code: object) -> Outcome:
        self._again(_EXPIRE)
        return NOTHING
