"""A producer that owns a transactional id, for scenarios of transactions."""

from __future__ import annotations

import time
from typing import Any

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.scenarios.produce import T0_MS, produce
from tests.support.batches import Batch

from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from barnabas.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from barnabas.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from barnabas.protocol.messages.produce import ProduceRequest

TRANSACTIONAL = 0x10
VERSION_2 = 5  # of EndTxn
_SOON = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
}


class Owner:
    """A producer that owns a transactional id, as far as it knows."""

    def __init__(self, d: Dialogue, short: str = "x") -> None:
        self.d = d
        self.id = d.name(short)
        self.producer_id = self.epoch = -1
        self.sequences: dict[tuple[str, int], int] = {}

    def ready(self) -> Owner:
        """Own the id, however long the coordinator takes to be found. Producer id 0 goes to nobody: it is not
        shown where it is the default."""
        self.take(self._given(None))
        self.take(self._given(self.id))
        return self

    def _given(self, transactional_id: str | None) -> InitProducerIdResponse:
        for _ in range(1200):
            found = self.d.peer.exchange(FindCoordinatorRequest("", 1, [self.id]), 4)
            assert isinstance(found, FindCoordinatorResponse), found
            answer = self.d.peer.exchange(InitProducerIdRequest(transactional_id, 60_000), 4)
            assert isinstance(answer, InitProducerIdResponse), answer
            if answer.error_code == 0:
                return answer
            assert answer.error_code in _SOON, answer
            time.sleep(0.05)
        raise AssertionError("no transaction coordinator")

    def take(self, answer: Any) -> None:
        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
        self.sequences = {}

    def init(self, producer_id: int = -1, epoch: int = -1, timeout_ms: int = 60_000) -> InitProducerIdRequest:
        return InitProducerIdRequest(self.id, timeout_ms, producer_id, epoch)

    def add(
        self, topic: str, *indexes: int, version: int = 3, verify: bool = False
    ) -> AddPartitionsToTxnRequest:
        topics = [AddPartitionsToTxnTopic(topic, list(indexes))]
        if version < 4:
            return AddPartitionsToTxnRequest([], self.id, self.producer_id, self.epoch, topics)
        return AddPartitionsToTxnRequest(
            [AddPartitionsToTxnTransaction(self.id, self.producer_id, self.epoch, verify, topics)]
        )

    def records(
        self, topic: str, index: int = 0, *, count: int = 2, epoch: int | None = None
    ) -> ProduceRequest:
        sequence = self.sequences.get((topic, index), 0)
        self.sequences[topic, index] = sequence + count
        batch = Batch(
            tuple(b"v%d" % number for number in range(count)),
            attributes=TRANSACTIONAL,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            timestamp_ms=T0_MS,
        )
        request = produce(topic, batch.encode(), index=index)
        request.transactional_id = self.id
        return request

    def end(self, committed: bool) -> EndTxnRequest:
        return EndTxnRequest(self.id, self.producer_id, self.epoch, committed)

    def settle(self) -> str:
        """Wait until the markers are written."""
        for _ in range(1200):
            answer = self.d.peer.exchange(DescribeTransactionsRequest([self.id]), 0)
            assert isinstance(answer, DescribeTransactionsResponse), answer
            state = answer.transaction_states[0].transaction_state
            if not state.startswith("Prepare"):
                return state
            time.sleep(0.02)
        raise AssertionError(f"{self.id} does not settle")

    def finish(self, committed: bool, version: int = 3) -> None:
        """End a transaction, off the record."""
        answer = self.d.peer.exchange(self.end(committed), version)
        assert isinstance(answer, EndTxnResponse), answer
        assert answer.error_code == 0, answer
        self.settle()
        if version >= VERSION_2:
            self.take(answer)


def look(owner: Owner, label: str) -> None:
    owner.d.ask(f"{label}: described", DescribeTransactionsRequest([owner.id]), view=_partitions_sorted)


def _partitions_sorted(shown: Any) -> Any:
    for row in shown["transaction_states"]:
        for topic in row.get("topics", []):
            topic["partitions"].sort()
    return shown


def group_ready(d: Dialogue, group: str) -> None:
    for _ in range(1200):
        d.peer.exchange(FindCoordinatorRequest("", 0, [group]), 4)
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=[])])
        answer = d.peer.exchange(request, 8)
        assert isinstance(answer, OffsetFetchResponse), answer
        if answer.groups[0].error_code not in _SOON:
            return
        time.sleep(0.05)
    raise AssertionError("no group coordinator")
