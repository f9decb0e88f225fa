"""Both versions of the transaction protocol.

Version 1: partitions and groups are added first, and one epoch serves many transactions. Version 2 (KIP-890):
whatever is written adds itself, and every transaction has an epoch of its own.
"""

from __future__ import annotations

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from barnabas.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from barnabas.protocol.messages.end_txn import EndTxnResponse
from barnabas.sim.scripts import Script, insist
from barnabas.sim.transactions import Transactions
from barnabas.sim.world import World


class TransactionsVersion1(Transactions):
    init_version = 4
    produce_version = 11
    end_version = 3
    offsets_version = 3

    def __init__(self, world: World, transactional_id: str, name: str, timeout_ms: int) -> None:
        super().__init__(world, transactional_id, name, timeout_ms)
        self._added: set[TopicPartition] = set()

    def begin(self) -> str:
        self._added.clear()
        return super().begin()

    def _add_partition(self, place: TopicPartition) -> Script[None]:
        while place not in self._added:
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.transactional_id,
                v3_and_below_producer_id=self.producer_id,
                v3_and_below_producer_epoch=self.epoch,
                v3_and_below_topics=[AddPartitionsToTxnTopic(place.topic, [place.partition])],
            )
            answer = yield from insist(AddPartitionsToTxnResponse, request, 3)
            code = answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
            if code == ErrorCode.NONE:
                self._added.add(place)
            else:
                yield from self.again_or_raise(code)

    def _add_offsets(self, group: str) -> Script[None]:
        while True:
            request = AddOffsetsToTxnRequest(self.transactional_id, self.producer_id, self.epoch, group)
            answer = yield from insist(AddOffsetsToTxnResponse, request, 3)
            if answer.error_code == ErrorCode.NONE:
                return
            yield from self.again_or_raise(answer.error_code)

    def _ended(self, answer: EndTxnResponse) -> None:
        """The epoch stays, and sequences go on."""

    def _renew(self) -> Script[None]:
        return self.initialise()


class TransactionsVersion2(Transactions):
    init_version = 5
    produce_version = 12
    end_version = 5
    offsets_version = 5

    def _add_partition(self, place: TopicPartition) -> Script[None]:  # noqa: ARG002
        yield from ()

    def _add_offsets(self, group: str) -> Script[None]:  # noqa: ARG002
        yield from ()

    def _ended(self, answer: EndTxnResponse) -> None:
        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
        self._sequences.clear()

    def _renew(self) -> Script[None]:
        """The end brought a new epoch, and with it new sequences."""
        yield from ()
