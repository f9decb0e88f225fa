"""kafka-python's transactional producer (transactions version 1) and its administrator of transactions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.members.face import Place
from tests.support.members.kafka_python_member import ask_admin, forgotten_sockets, refusals
from tests.support.transactional.face import ActiveProducer, DescribedTransaction

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaProducer, TopicPartition
    from kafka.admin import AbortTransactionSpec
    from kafka.structs import OffsetAndMetadata

_TIMEOUT_S = 30


class KafkaPythonTransactions:
    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
            max_block_ms=_TIMEOUT_S * 1_000,
            retry_backoff_ms=20,
        )

    def init(self) -> None:
        with refusals():
            self._producer.init_transactions()

    def begin(self) -> None:
        with refusals():
            self._producer.begin_transaction()

    def send(self, topic: str, values: Sequence[bytes], partition: int = 0) -> None:
        with refusals():
            deliveries = [self._producer.send(topic, value, partition=partition) for value in values]
            self._producer.flush(_TIMEOUT_S)
            for delivery in deliveries:
                delivery.get(_TIMEOUT_S)

    def send_offsets(self, member: Any, group: str, offsets: Mapping[Place, int]) -> None:
        rows = {
            TopicPartition(*place): OffsetAndMetadata(offset, "", -1) for place, offset in offsets.items()
        }
        with refusals():
            self._producer.send_offsets_to_transaction(rows, member.ask(member.consumer.group_metadata))

    def commit(self) -> None:
        with refusals():
            self._producer.commit_transaction()

    def abort(self) -> None:
        with refusals():
            self._producer.abort_transaction()

    def close(self) -> None:
        with forgotten_sockets():
            self._producer.close(0)
            del self._producer


class KafkaPythonTransactionAdmin:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def _ask(self, method: str, *arguments: Any) -> Any:
        return ask_admin(self._bootstrap, method, *arguments)

    def transactions(self) -> dict[str, str]:
        by_broker = self._ask("list_transactions")
        return {one.transactional_id: one.state.value for rows in by_broker.values() for one in rows}

    def describe(self, transactional_id: str) -> DescribedTransaction:
        found = self._ask("describe_transactions", [transactional_id])[transactional_id]
        places = frozenset((one.topic, one.partition) for one in found.topic_partitions)
        return DescribedTransaction(
            found.state.value, found.producer_id, found.producer_epoch, found.transaction_timeout_ms, places
        )

    def producers(self, place: Place) -> list[ActiveProducer]:
        (found,) = self._ask("describe_producers", [TopicPartition(*place)]).values()
        return [
            ActiveProducer(
                one.producer_id,
                one.producer_epoch,
                one.coordinator_epoch,
                one.current_transaction_start_offset,
            )
            for one in found.active_producers
        ]

    def abort(self, place: Place, producer_id: int, epoch: int, coordinator_epoch: int) -> None:
        spec = AbortTransactionSpec(TopicPartition(*place), producer_id, epoch, coordinator_epoch)
        self._ask("abort_transaction", spec)
