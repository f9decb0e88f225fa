"""One partition of `__transaction_state`: the transactional ids that hash to it, and their transactions.

An operation answers its ticket or raises ApiError. Transactions change in `replay` only; what is kept beside
them may be lost at a crash: who waits for a producer id, which markers are still to come, and the epoch each
owner had before, which tells a repeated InitProducerId from a fenced one.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from functools import partial

from barnabas.coordination.outcome import NOTHING, Answer, Entry, Outcome, Producer, Ticket
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.image import ClusterImage
from barnabas.protocol.internal.transactions import TransactionLogKey, TransactionLogValue
from barnabas.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.transactions.ending import SAID_BEFORE, judge
from barnabas.transactions.host import Markers, TransactionHost
from barnabas.transactions.new_ids import NewIds
from barnabas.transactions.ownership import check_expected, next_owner
from barnabas.transactions.states import ONGOING, PREPARE_COMMIT
from barnabas.transactions.transaction import (
    EPOCH_PER_TRANSACTION,
    NO_EPOCH,
    NO_PRODUCER_ID,
    Transaction,
    from_value,
)
from barnabas.transactions.upkeep import Upkeep

log = logging.getLogger("kafka.coordinator.transaction")

FEATURE = "transaction.version"


class TransactionShard:
    def __init__(self, host: TransactionHost, partition: int) -> None:
        self.partition = partition
        self.transactions: dict[str, Transaction] = {}
        self.ongoing: dict[str, None] = {}  # ids with an open transaction, in the order they began
        self.new_ids = NewIds(host)
        self._host = host
        self._unwritten: dict[str, set[TopicPartition]] = {}  # whose markers are still to come
        self._previous_epochs: dict[str, tuple[Producer, int]] = {}  # that an owner had before
        self._upkeep = Upkeep(self, host)

    # --- InitProducerId ------------------------------------------------------------------------------------

    def init_producer_id(self, request: InitProducerIdRequest, ticket: Ticket) -> Outcome:
        """Make the caller the one owner of its transactional id; an open transaction is aborted first, and
        the caller asks again."""
        transactional_id, timeout_ms = request.transactional_id, request.transaction_timeout_ms
        assert transactional_id
        if not 0 < timeout_ms <= self._host.settings.integer("transaction.max.timeout.ms"):
            raise ApiError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        expected = None
        if request.producer_id != NO_PRODUCER_ID:
            expected = Producer(request.producer_id, request.producer_epoch)
        self.new_ids.check_not_awaited(transactional_id)
        transaction = self.transactions.get(transactional_id)
        if transaction is None:
            fresh = Transaction(transactional_id, NO_PRODUCER_ID, NO_EPOCH, timeout_ms)
            return self._own_with_new_id(fresh, timeout_ms, NO_EPOCH, ticket)
        if transaction.is_ending:
            raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
        check_expected(transaction, expected)
        if transaction.state is ONGOING:
            return self.fence(transaction, ticket)
        owner = next_owner(transaction, expected, self._previous_epoch(transaction))
        previous_epoch = NO_EPOCH if expected is None else transaction.producer_epoch
        if owner is None:
            return self._own_with_new_id(transaction, timeout_ms, previous_epoch, ticket)
        if owner == transaction.producer:
            previous_epoch = self._previous_epoch(transaction)
        return self._own(transaction, owner, timeout_ms, previous_epoch, ticket)

    def _own_with_new_id(
        self, transaction: Transaction, timeout_ms: int, previous_epoch: int, ticket: Ticket
    ) -> Outcome:
        def own(producer_id: int) -> Outcome:
            old = transaction
            if old.producer_id == NO_PRODUCER_ID:
                old = Transaction(old.transactional_id, producer_id, NO_EPOCH, timeout_ms)
            return self._own(old, Producer(producer_id, 0), timeout_ms, previous_epoch, ticket)

        return self.new_ids.get(transaction.transactional_id, ticket, own)

    def _own(
        self, old: Transaction, owner: Producer, timeout_ms: int, previous_epoch: int, ticket: Ticket
    ) -> Outcome:
        new = old.owned_by(owner, timeout_ms, self._host.wall_ms)
        self._remember_epoch(new.transactional_id, owner, previous_epoch)
        response = InitProducerIdResponse(producer_id=owner.id, producer_epoch=owner.epoch)
        return Outcome(entries=[new.entry()], answers=[(ticket, response)])

    # --- partitions ----------------------------------------------------------------------------------------

    def add_partitions(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: Collection[TopicPartition],
        client_version: int,
        ticket: Ticket,
    ) -> Outcome:
        """They belong to the transaction, which begins with the first. Answers ErrorCode.NONE."""
        self.new_ids.check_not_awaited(transactional_id)
        transaction = self._known(transactional_id)
        if transaction.is_ending:
            # Before the checks: the producer may use the next producer id, which only counts after this.
            raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
        _check_owner(transaction, producer)
        answers: list[Answer] = [(ticket, ErrorCode.NONE)]
        if transaction.state is ONGOING and transaction.partitions.issuperset(partitions):
            return Outcome(answers=answers)
        new = transaction.with_partitions(partitions, client_version, self._host.wall_ms)
        return Outcome(entries=[new.entry()], answers=answers)

    def verify_partitions(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: Collection[TopicPartition],
        ticket: Ticket,
    ) -> Outcome:
        """Do they belong to the transaction? Answers an ErrorCode for each."""
        transaction = self._known(transactional_id)
        _check_owner(transaction, producer)
        if transaction.is_ending:
            raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
        codes = {
            partition: ErrorCode.NONE
            if partition in transaction.partitions
            else ErrorCode.TRANSACTION_ABORTABLE
            for partition in partitions
        }
        return Outcome(answers=[(ticket, codes)])

    # --- the end -------------------------------------------------------------------------------------------

    def end(self, request: EndTxnRequest, client_version: int, ticket: Ticket) -> Outcome:
        """Answered once the decision is committed; the markers follow."""
        self.new_ids.check_not_awaited(request.transactional_id)
        transaction = self._known(request.transactional_id)
        producer = Producer(request.producer_id, request.producer_epoch)
        if judge(transaction, producer, request.committed, client_version) is SAID_BEFORE:
            response = EndTxnResponse(
                producer_id=transaction.producer_id, producer_epoch=transaction.producer_epoch
            )
            return Outcome(answers=[(ticket, response)])

        def end(next_producer_id: int) -> Outcome:
            now_ms = self._host.wall_ms
            new = transaction.prepared(request.committed, client_version, next_producer_id, now_ms)
            after = new.completed(now_ms)
            response = EndTxnResponse(producer_id=after.producer_id, producer_epoch=after.producer_epoch)
            return self._prepare(transaction, new, [(ticket, response)])

        if client_version >= EPOCH_PER_TRANSACTION and transaction.is_exhausted:
            return self.new_ids.get(transaction.transactional_id, ticket, end)
        return end(NO_PRODUCER_ID)

    def fence(self, transaction: Transaction, ticket: Ticket | None = None) -> Outcome:
        """Abort with an epoch above the owner's: nothing it sends from now on counts."""
        version = self._host.image.features.get(FEATURE, 0)

        def end(next_producer_id: int) -> Outcome:
            new = transaction.prepared(False, version, next_producer_id, self._host.wall_ms, fence=True)
            again = InitProducerIdResponse(
                error_code=ErrorCode.CONCURRENT_TRANSACTIONS, producer_id=-1, producer_epoch=-1
            )
            return self._prepare(transaction, new, [] if ticket is None else [(ticket, again)])

        if version >= EPOCH_PER_TRANSACTION and transaction.is_exhausted:
            return self.new_ids.get(transaction.transactional_id, ticket, end)
        return end(NO_PRODUCER_ID)

    def _prepare(self, old: Transaction, new: Transaction, answers: list[Answer]) -> Outcome:
        if new.client_version >= EPOCH_PER_TRANSACTION:
            self._remember_epoch(new.transactional_id, new.producer, old.producer_epoch)
        return Outcome(
            entries=[new.entry()],
            answers=answers,
            # Only then: a marker of a decision that a crash could still undo would tear the transaction.
            committed=lambda: self._send_markers(new),
        )

    def _send_markers(self, transaction: Transaction) -> None:
        if not transaction.partitions:
            self._host.run(lambda: self._complete(transaction.transactional_id))
            return
        self._unwritten[transaction.transactional_id] = set(transaction.partitions)
        self._host.send_markers(
            Markers(
                transaction.transactional_id,
                transaction.producer,
                transaction.state is PREPARE_COMMIT,
                self._host.coordinator_epoch,
                transaction.client_version,
                transaction.partitions,
            )
        )

    def marker_written(self, markers: Markers, partitions: Iterable[TopicPartition]) -> Outcome:
        """Each may be said more than once, and late."""
        transaction = self.transactions.get(markers.transactional_id)
        unwritten = self._unwritten.get(markers.transactional_id)
        if transaction is None or unwritten is None or transaction.producer != markers.producer:
            return NOTHING
        unwritten.difference_update(partitions)
        return NOTHING if unwritten else self._complete(markers.transactional_id)

    def _complete(self, transactional_id: str) -> Outcome:
        transaction = self.transactions[transactional_id]
        new = transaction.completed(self._host.wall_ms)
        if new.producer_id != transaction.producer_id:
            self._remember_epoch(transactional_id, new.producer, self._previous_epoch(transaction))
        self._unwritten.pop(transactional_id, None)
        return Outcome(entries=[new.entry()], refused=lambda _code: self._complete_later(transactional_id))

    def _complete_later(self, transactional_id: str) -> Outcome:
        """The record that all is done could not be written: nobody else will try."""
        self._host.timers.schedule(
            ("complete", transactional_id),
            self._host.settings.integer("add.partitions.to.txn.retry.backoff.ms"),
            lambda: self._complete(transactional_id),
        )
        return NOTHING

    # --- Shard ---------------------------------------------------------------------------------------------

    def replay(self, entry: Entry, offset: int, producer: Producer | None) -> None:  # noqa: ARG002
        assert isinstance(entry.key, TransactionLogKey)
        transactional_id = entry.key.transactional_id
        self.ongoing.pop(transactional_id, None)
        if entry.value is None:
            self.transactions.pop(transactional_id, None)
            self._previous_epochs.pop(transactional_id, None)
            return
        assert isinstance(entry.value, TransactionLogValue)
        transaction = self.transactions[transactional_id] = from_value(transactional_id, entry.value)
        if transaction.state is ONGOING:
            self.ongoing[transactional_id] = None

    def end_transaction(self, producer: Producer, committed: bool) -> None:
        """Nobody writes transactional records here."""

    def loaded(self) -> Iterable[Outcome]:
        self._upkeep.start()
        for transaction in [one for one in self.transactions.values() if one.is_ending]:
            log.info("Finishing the transaction of %s, decided before", transaction.transactional_id)
            yield Outcome(committed=partial(self._send_markers, transaction))

    def unloaded(self) -> None:
        self.new_ids.abandon()

    def image_changed(self, old: ClusterImage) -> Iterable[Outcome]:  # noqa: ARG002
        return ()  # a partition that is gone counts as written, which is its carrier's business

    # --- small things --------------------------------------------------------------------------------------

    def _known(self, transactional_id: str) -> Transaction:
        transaction = self.transactions.get(transactional_id)
        if transaction is None:
            raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        return transaction

    def _remember_epoch(self, transactional_id: str, owner: Producer, previous_epoch: int) -> None:
        """Before the append: if that fails, the owner it is kept for never exists."""
        self._previous_epochs[transactional_id] = (owner, previous_epoch)

    def _previous_epoch(self, transaction: Transaction) -> int:
        owner, previous_epoch = self._previous_epochs.get(transaction.transactional_id, (None, NO_EPOCH))
        return previous_epoch if owner == transaction.producer else NO_EPOCH


def _check_owner(transaction: Transaction, producer: Producer) -> None:
    if transaction.producer_id != producer.id:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if transaction.producer_epoch != producer.epoch:
        raise ApiError(ErrorCode.PRODUCER_FENCED)
