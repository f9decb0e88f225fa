"""Who may own a transactional id, and with which epoch: the rules of InitProducerId (KIP-360)."""

from __future__ import annotations

from barnabas.coordination.outcome import Producer
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.transactions.transaction import LAST_CLIENT_EPOCH, NO_EPOCH, Transaction


def check_expected(transaction: Transaction, expected: Producer | None) -> None:
    """A producer that says who it is may be the owner, or the owner before the last exhausted its epochs and
    who never heard of its new id."""
    if expected is None or expected.id == transaction.producer_id:
        return
    if expected.id == transaction.previous_producer_id and expected.epoch >= LAST_CLIENT_EPOCH:
        return
    raise ApiError(ErrorCode.PRODUCER_FENCED)


def next_owner(transaction: Transaction, expected: Producer | None, last_epoch: int) -> Producer | None:
    """Whom the id belongs to from now on; None when that takes a fresh producer id. `last_epoch` came before
    this one, as far as we remember: whoever names it repeats a call whose answer was lost."""
    epoch = transaction.producer_epoch
    if expected is None or expected.epoch == epoch:
        return None if transaction.is_exhausted else Producer(transaction.producer_id, epoch + 1)
    if expected.epoch == last_epoch != NO_EPOCH:
        return transaction.producer
    raise ApiError(ErrorCode.PRODUCER_FENCED)
