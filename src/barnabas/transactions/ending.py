"""What an EndTxn may do in each state: two tables, one per way of counting epochs (KIP-98, KIP-890)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from barnabas.coordination.outcome import Producer
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.transactions.states import (
    AT_REST,
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    ONGOING,
    TransactionState,
)
from barnabas.transactions.transaction import EPOCH_PER_TRANSACTION, LAST_CLIENT_EPOCH, Transaction


class Verdict(Enum):
    END = "prepare to commit or to abort"
    SAID_BEFORE = "a repeat of what has happened: answer as before"


END, SAID_BEFORE = Verdict.END, Verdict.SAID_BEFORE

# (state, commit); whatever is missing is INVALID_TXN_STATE.
_BEFORE_VERSION_2: Final[Mapping[tuple[TransactionState, bool], Verdict]] = {
    (ONGOING, True): END,
    (ONGOING, False): END,
    (COMPLETE_COMMIT, True): SAID_BEFORE,
    (COMPLETE_ABORT, False): SAID_BEFORE,
}
# (state, commit, is a repeat): the epoch alone tells a repeat from the next transaction's end.
_VERSION_2: Final[Mapping[tuple[TransactionState, bool, bool], Verdict]] = {
    (ONGOING, True, False): END,
    (ONGOING, False, False): END,
    (EMPTY, False, False): END,
    (COMPLETE_COMMIT, True, True): SAID_BEFORE,
    (COMPLETE_COMMIT, False, False): END,
    (COMPLETE_ABORT, False, True): SAID_BEFORE,
    (COMPLETE_ABORT, False, False): END,
}


def judge(transaction: Transaction, producer: Producer, commit: bool, client_version: int) -> Verdict:
    """ApiError where the answer is an error. Nobody may end what is ending: the markers come first."""
    if client_version >= EPOCH_PER_TRANSACTION:
        verdict = _judge_version_2(transaction, producer, commit)
    else:
        verdict = _judge_before_version_2(transaction, producer, commit)
    if verdict is None:
        raise ApiError(ErrorCode.INVALID_TXN_STATE)
    return verdict


def _judge_before_version_2(transaction: Transaction, producer: Producer, commit: bool) -> Verdict | None:
    if transaction.producer_id != producer.id:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if transaction.producer_epoch != producer.epoch:
        raise ApiError(ErrorCode.PRODUCER_FENCED)
    if transaction.is_ending:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    return _BEFORE_VERSION_2.get((transaction.state, commit))


def _judge_version_2(transaction: Transaction, producer: Producer, commit: bool) -> Verdict | None:
    if transaction.is_ending:
        # Before anything else: the producer may already have the next producer id, which only counts then.
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    rotated = (
        producer == (transaction.previous_producer_id, LAST_CLIENT_EPOCH) and transaction.producer_epoch == 0
    )
    if transaction.producer_id != producer.id and not rotated:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    repeats = rotated or transaction.producer_epoch == producer.epoch + 1
    may_repeat = transaction.state in AT_REST and transaction.state is not EMPTY
    if transaction.producer_epoch != producer.epoch and not (repeats and may_repeat):
        raise ApiError(ErrorCode.PRODUCER_FENCED)
    return _VERSION_2.get((transaction.state, commit, repeats))
