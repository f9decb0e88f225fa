"""The driver's side of a batch: take the transactional id, read the ledger, and in the end commit or
abort."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import NamedTuple

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.spark.errors import PipelineError
from barnabas.spark.sink.ledger import Entry, group_of, is_written
from barnabas.spark.sink.outlet import FENCED
from barnabas.spark.sink.reports import FencedError, Written
from barnabas.spark.sink.settings import TRANSACTION_TIMEOUT_MIN_MS, TRANSACTION_TIMEOUT_MS, Sink
from barnabas.wire import Cluster, WireError
from barnabas.wire.admin import groups
from barnabas.wire.transactions import LedgerRow, Producer, Transactions, stable_offsets


class Begun(NamedTuple):
    """Pickles: tasks write in the producer's name, and some of them look at the ledger."""

    producer: Producer
    ledger: tuple[LedgerRow, ...]
    timeout_ms: int
    began_at_s: float


def begin(sink: Sink, cluster: Cluster, transactional_id: str) -> Begun:
    """Whoever held the id is fenced before the ledger is read: it cannot change any more."""
    timeout_ms = sink.transaction_timeout_ms or TRANSACTION_TIMEOUT_MS
    transactions = Transactions(cluster, transactional_id)
    try:
        producer = transactions.take(timeout_ms)
    except ApiError as error:
        if error.code is not ErrorCode.INVALID_TRANSACTION_TIMEOUT:
            raise
        if sink.transaction_timeout_ms is not None:
            raise PipelineError(
                f"kafka.transaction.timeout.ms={timeout_ms} is more than the brokers allow: lower it, or "
                "raise transaction.max.timeout.ms there."
            ) from error
        timeout_ms = TRANSACTION_TIMEOUT_MIN_MS
        producer = transactions.take(timeout_ms)
    ledger = stable_offsets(cluster, group_of(transactional_id))
    return Begun(producer, tuple(ledger.values()), timeout_ms, time.time())


def end(cluster: Cluster, begun: Begun, written: Sequence[Written], entry: Entry) -> None:
    """Where nothing was written no transaction has begun."""
    if not written:
        return
    transactional_id = begun.producer.transactional_id
    assert transactional_id is not None
    transactions = Transactions(cluster, transactional_id)
    try:
        # Any partition that exists would do; the ledger is read as a whole.
        partition = TopicPartition(written[0].topic, 0)
        transactions.commit_offset(begun.producer, group_of(transactional_id), partition, entry.row)
        transactions.end(begun.producer, commit=True)
    except ApiError as error:
        if error.code in FENCED:
            raise FencedError(str(error)) from error
        raise


def end_surely(sink: Sink, cluster: Cluster, begun: Begun, written: Sequence[Written], entry: Entry) -> None:
    """For those who cannot run the batch again: an end whose answer is lost may have been carried out, and
    the ledger knows."""
    try:
        end(cluster, begun, written, entry)
    except (ApiError, WireError):
        again = begin(sink, cluster, begun.producer.transactional_id or "")
        if not is_written(entry, again.ledger):
            raise


def forget(cluster: Cluster, transactional_id: str) -> None:
    """Of an id that nobody will use again. A ledger that stays expires by itself."""
    with contextlib.suppress(ApiError, WireError):
        groups.delete(cluster, [group_of(transactional_id)])


def abort(sink: Sink, cluster: Cluster, transactional_id: str) -> None:
    """A new epoch: what is open is aborted, and tasks that still run write no more."""
    begin(sink, cluster, transactional_id)


def abort_ours(cluster: Cluster, begun: Begun) -> None:
    """The same, unless somebody else has the id by now: it is not taken back from them."""
    transactions = Transactions(cluster, begun.producer.transactional_id or "")
    try:
        transactions.end(begun.producer, commit=False)
    except ApiError as error:
        if error.code in FENCED:
            return
        if error.code is not ErrorCode.INVALID_TXN_STATE:  # nothing was open
            raise
    transactions.take(begun.timeout_ms)


def fenced_sentence(transactional_id: str, begun: Begun, now_s: float) -> str:
    if (now_s - begun.began_at_s) * 1000 >= begun.timeout_ms:
        return (
            f"The batch took longer than its transaction may ({begun.timeout_ms} ms): raise "
            "kafka.transaction.timeout.ms (and the brokers' transaction.max.timeout.ms), or make batches "
            "smaller, for example with maxOffsetsPerTrigger."
        )
    return (
        f"Two queries share one transactional id, {transactional_id!r}, and the other one has taken it: "
        "stop one of them, or give each its own with the option transactionalId."
    )
