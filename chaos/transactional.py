"""A transactional producer: what it committed is there as a whole, what it aborted is not there at all."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from enum import Enum
from typing import Any

from confluent_kafka import KafkaException, Producer

from chaos.load import CLIENT

RECORDS = 6
_ABORT_EVERY = 7
_PAUSE_S = 0.15
_OPERATION_S = 20.0


class Outcome(Enum):
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"  # the end was not heard: all or nothing


class TransactionalLoad(threading.Thread):
    """Transaction N writes RECORDS values `N 0`, `N 1`, …, over all partitions."""

    def __init__(self, bootstrap: str, transactional_id: str, topic: str, partitions: int) -> None:
        super().__init__(name="transactions")
        self.topic, self.partitions = topic, partitions
        self._settings = CLIENT | {
            "bootstrap.servers": bootstrap,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": 30_000,
            "request.timeout.ms": 4_000,
            "linger.ms": 1,
        }
        self._producer: Producer | None = None
        self._stopping = threading.Event()
        self.outcomes: dict[int, Outcome] = {}
        self.begun: Counter[str] = Counter()  # producers that had to be made anew, by reason

    def run(self) -> None:
        number = 0
        while not self._stopping.is_set():
            if self._producer is None:
                self._producer = self._make()
                continue
            self.outcomes[number] = self._transaction(self._producer, number)
            number += 1
            time.sleep(_PAUSE_S)

    def finish(self) -> None:
        self._stopping.set()
        self.join(180)

    def _make(self) -> Producer | None:
        producer = Producer(self._settings)
        try:
            producer.init_transactions(_OPERATION_S)
        except KafkaException as error:
            self.begun[error.args[0].name()] += 1
            return None
        return producer

    def _transaction(self, producer: Producer, number: int) -> Outcome:
        wants_abort = number % _ABORT_EVERY == _ABORT_EVERY - 1
        try:
            producer.begin_transaction()
            for index in range(RECORDS):
                partition = (number + index) % self.partitions
                producer.produce(self.topic, f"{number} {index}".encode(), partition=partition)
            if wants_abort:
                self._until_done(producer.abort_transaction)
                return Outcome.ABORTED
            self._until_done(producer.commit_transaction)
        except KafkaException as error:
            return self._failed(producer, error)
        return Outcome.COMMITTED

    def _failed(self, producer: Producer, error: KafkaException) -> Outcome:
        """An error that asks for an abort says that the commit was not carried out; after others the end is
        unknown, and a new producer with the same name ends what was begun."""
        reason: Any = error.args[0]
        if reason.txn_requires_abort():
            try:
                self._until_done(producer.abort_transaction)
            except KafkaException as second:
                reason = second.args[0]
            else:
                return Outcome.ABORTED
        self.begun[reason.name()] += 1
        self._producer = None
        return Outcome.UNKNOWN

    def _until_done(self, operation: Callable[[float], Any]) -> None:
        """Librdkafka wants the same call again when it ran out of time."""
        deadline = time.monotonic() + 6 * _OPERATION_S
        while True:
            try:
                operation(_OPERATION_S)
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > deadline:
                    raise
            else:
                return
