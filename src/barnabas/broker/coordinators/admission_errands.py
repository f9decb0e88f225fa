"""Partitions of transactions that another broker coordinates: AddPartitionsToTxn asks it, or tells it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from barnabas.broker.cluster.errands import Errands
from barnabas.coordination.outcome import Producer
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_VERSION: Final = 5

Codes: TypeAlias = Mapping[TopicPartition, ErrorCode]


class Admission:
    """One producer's partitions; `done` hears a code for each of them, once."""

    def __init__(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: Sequence[TopicPartition],
        *,
        verify_only: bool,
        done: Callable[[Codes], None],
    ) -> None:
        self._transactional_id = transactional_id
        self._producer = producer
        self._partitions = partitions
        self._verify_only = verify_only
        self._done = done

    @property
    def key(self) -> Hashable:
        return self._transactional_id

    @property
    def partition_count(self) -> int:
        return len(self._partitions)

    def row(self) -> AddPartitionsToTxnTransaction:
        topics: dict[str, list[int]] = {}
        for place in self._partitions:
            topics.setdefault(place.topic, []).append(place.partition)
        return AddPartitionsToTxnTransaction(
            self._transactional_id,
            self._producer.id,
            self._producer.epoch,
            self._verify_only,
            [AddPartitionsToTxnTopic(topic, indexes) for topic, indexes in topics.items()],
        )

    def answered(self, result: AddPartitionsToTxnResult | None) -> None:
        codes = {
            TopicPartition(topic.name, row.partition_index): ErrorCode(row.partition_error_code)
            for topic in (() if result is None else result.topic_results)
            for row in topic.results_by_partition
        }
        # What it does not speak of, it has not admitted.
        self._done({place: codes.get(place, ErrorCode.INVALID_TXN_STATE) for place in self._partitions})

    def refuse(self, code: ErrorCode) -> None:
        self._done(dict.fromkeys(self._partitions, code))

    def failed(self) -> None:
        self.refuse(ErrorCode.NETWORK_EXCEPTION)


AdmissionErrands: TypeAlias = Errands[Admission]


def admission_errands(node: Node) -> AdmissionErrands:
    return Errands(node, _VERSION, _write, _read)


def _write(admissions: list[Admission]) -> Message:
    return AddPartitionsToTxnRequest(transactions=[admission.row() for admission in admissions])


def _read(admissions: list[Admission], answer: Message) -> None:
    assert isinstance(answer, AddPartitionsToTxnResponse)
    if answer.error_code:
        code = ErrorCode(answer.error_code)
        # That brokers may not speak to each other is nothing a producer could understand.
        not_allowed = code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        for admission in admissions:
            admission.refuse(ErrorCode.INVALID_TXN_STATE if not_allowed else code)
        return
    results = {row.transactional_id: row for row in answer.results_by_transaction}
    for admission in admissions:
        admission.answered(results.get(str(admission.key)))
