"""confluent-kafka's transactional producer: transactions version 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import confluent_kafka
from tests.support.client import RefusedError
from tests.support.members.face import Place
from tests.support.transactional.face import PRODUCER_FENCED

_library: Any = confluent_kafka
_TIMEOUT_S = 30


class ConfluentTransactions:
    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        settings = {
            "bootstrap.servers": bootstrap,
            "log_level": 0,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": timeout_ms,
            "linger.ms": 0,
        }
        self._producer = _library.Producer(settings)
        self._errors: list[Any] = []

    def init(self) -> None:
        with _refusals():
            self._producer.init_transactions(_TIMEOUT_S)

    def begin(self) -> None:
        with _refusals():
            self._producer.begin_transaction()

    def send(self, topic: str, values: Sequence[bytes], partition: int = 0) -> None:
        self._errors.clear()
        with _refusals():
            for value in values:
                self._producer.produce(topic, value, partition=partition, on_delivery=self._delivered)
        self._producer.flush(_TIMEOUT_S)
        if self._errors:
            raise _refused(self._errors[0])

    def _delivered(self, error: Any, _message: Any) -> None:
        if error is not None:
            self._errors.append(error)

    def send_offsets(self, member: Any, group: str, offsets: Mapping[Place, int]) -> None:
        rows = [_library.TopicPartition(*place, offset) for place, offset in offsets.items()]
        with _refusals():
            # On the thread that polls: librdkafka lets nobody else in for long.
            metadata = member.ask(member.consumer.consumer_group_metadata)
            self._producer.send_offsets_to_transaction(rows, metadata, _TIMEOUT_S)

    def commit(self) -> None:
        with _refusals():
            self._producer.commit_transaction(_TIMEOUT_S)

    def abort(self) -> None:
        with _refusals():
            self._producer.abort_transaction(_TIMEOUT_S)

    def close(self) -> None:
        self._producer.purge()
        with suppress(confluent_kafka.KafkaException):  # it was fenced, which the test knows
            self._producer.flush(0)


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except confluent_kafka.KafkaException as problem:
        raise _refused(problem.args[0]) from problem


def _refused(error: Any) -> RefusedError:
    fenced = error.code() == confluent_kafka.KafkaError._FENCED
    return RefusedError(PRODUCER_FENCED if fenced else error.code(), error.str())
