"""A transactional producer as a client library is one: what both versions of the protocol share."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from barnabas.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from barnabas.records.build import build_batch
from barnabas.records.walk import Record
from barnabas.sim.history import (
    Acknowledged,
    CommitAcknowledged,
    CommitAsked,
    CommitRefused,
    Ended,
    Ending,
    Fate,
    Refused,
    Sent,
)
from barnabas.sim.membership import (
    COORDINATOR_BUSY,
    GROUP,
    PAUSE_MS,
    TRANSACTION,
    Member,
    by_topic,
    find_coordinator,
)
from barnabas.sim.scripts import LostError, Script, ask, insist, rest
from barnabas.sim.world import World

_TIMEOUT_MS = 1500
_FENCED = (
    ErrorCode.PRODUCER_FENCED,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.TRANSACTIONAL_ID_NOT_FOUND,
)
_AGAIN = (*COORDINATOR_BUSY, ErrorCode.CONCURRENT_TRANSACTIONS)


class FencedError(Exception):
    """Somebody else goes by this name now, or the coordinator gave it up: this incarnation is over."""


class AbortableError(Exception):
    """This transaction cannot be committed; it can be aborted."""


class Transactions(abc.ABC):
    """One incarnation of a transactional producer."""

    init_version: int
    produce_version: int
    end_version: int
    offsets_version: int

    def __init__(self, world: World, transactional_id: str, name: str, timeout_ms: int) -> None:
        self.world = world
        self.transactional_id = transactional_id
        self.name = name
        self.timeout_ms = timeout_ms
        self.producer_id = -1
        self.epoch = -1
        self.transaction = ""
        self._count = 0
        self._started = False  # the coordinator knows, or may know, of the transaction
        self._sequences: dict[TopicPartition, int] = {}
        self._numbers: dict[TopicPartition, int] = {}

    # --- beginning -----------------------------------------------------------------------------------------

    def initialise(self) -> Script[None]:
        """Fences every earlier incarnation. With an epoch, only a new epoch is asked for (KIP-360)."""
        yield from find_coordinator(self.transactional_id, TRANSACTION)
        while True:
            request = InitProducerIdRequest(
                self.transactional_id, self.timeout_ms, self.producer_id, self.epoch
            )
            answer = yield from insist(InitProducerIdResponse, request, self.init_version)
            if answer.error_code == ErrorCode.NONE:
                self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
                self._sequences.clear()
                return
            yield from self.again_or_raise(answer.error_code)

    def begin(self) -> str:
        self._count += 1
        self.transaction = f"{self.name}#{self._count}"
        self._started = False
        return self.transaction

    # --- writing -------------------------------------------------------------------------------------------

    def write(
        self, place: TopicPartition, keys: Sequence[bytes | None], values: Sequence[bytes | None]
    ) -> Script[None]:
        number = self._numbers[place] = self._numbers.get(place, -1) + 1
        sent = Sent(self.name, place, number, tuple(keys), tuple(values), True, -1, self.transaction)
        self.world.history.add(sent)
        yield from self._add_partition(place)
        self._started = True
        batch = self._batch(sent)
        self._sequences[place] = self._sequences.get(place, 0) + len(values)
        while True:
            life = self.world.history.power_losses
            answer = yield from insist(ProduceResponse, self._produce(place, batch), self.produce_version)
            told = answer.responses[0].partition_responses[0]
            if told.error_code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                self.world.history.add(Acknowledged(sent, told.base_offset, life))
                return
            self.world.history.add(Refused(self.name, place, told.error_code))
            yield from self.again_or_raise(told.error_code)

    def _batch(self, sent: Sent) -> bytes:
        pairs = zip(sent.keys, sent.values, strict=True)
        records = [Record(at, self.world.wall_ms, key, value) for at, (key, value) in enumerate(pairs)]
        made = build_batch(
            records,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=self._sequences.get(sent.place, 0),
            transactional=True,
        )
        return bytes(made)

    def _produce(self, place: TopicPartition, batch: bytes) -> ProduceRequest:
        data = [PartitionProduceData(place.partition, batch)]
        topics = [TopicProduceData(name=place.topic, partition_data=data)]
        return ProduceRequest(self.transactional_id, -1, _TIMEOUT_MS, topics)

    def send_offsets(self, member: Member, offsets: Mapping[TopicPartition, int]) -> Script[None]:
        asked = CommitAsked(
            member.group, member.name, member.generation, tuple(sorted(offsets.items())), self.transaction
        )
        self.world.history.add(asked)
        yield from self._add_offsets(member.group)
        self._started = True
        request = self._offsets_request(member, offsets)
        while True:
            answer = yield from insist(TxnOffsetCommitResponse, request, self.offsets_version)
            code = max(one.error_code for topic in answer.topics for one in topic.partitions)
            if code == ErrorCode.NONE:
                self.world.history.add(CommitAcknowledged(asked))
                return
            self.world.history.add(CommitRefused(asked, code))
            if code in COORDINATOR_BUSY:
                yield from find_coordinator(member.group, GROUP)
            yield from self.again_or_raise(code)

    def _offsets_request(
        self, member: Member, offsets: Mapping[TopicPartition, int]
    ) -> TxnOffsetCommitRequest:
        topics = [
            TxnOffsetCommitRequestTopic(
                topic,
                [
                    TxnOffsetCommitRequestPartition(
                        index, *member.position(TopicPartition(topic, index), offsets)
                    )
                    for index in indexes
                ],
            )
            for topic, indexes in by_topic(offsets)
        ]
        return TxnOffsetCommitRequest(
            self.transactional_id,
            member.group,
            self.producer_id,
            self.epoch,
            member.generation,
            member.member_id,
            member.instance_id,
            topics=topics,
        )

    # --- ending --------------------------------------------------------------------------------------------

    def end(self, *, commit: bool) -> Script[None]:
        """Asks until somebody decides. What nobody started needs no end."""
        if not self._started:
            return
        self.world.history.add(Ending(self.transaction, commit))
        certain = True  # nothing that was asked for may have happened
        while True:
            request = EndTxnRequest(self.transactional_id, self.producer_id, self.epoch, commit)
            try:
                answer = yield from ask(EndTxnResponse, request, self.end_version)
            except LostError:
                certain = False
                continue
            if answer.error_code == ErrorCode.NONE:
                break
            if answer.error_code not in (*_AGAIN, ErrorCode.UNKNOWN_SERVER_ERROR):
                fate = Fate.ABORTED if certain or not commit else Fate.UNKNOWN
                self.world.history.add(Ended(self.transaction, fate))
            # A coordinator that failed to write may yet find that it did, and one that is no longer it may
            # have handed on what it wrote.
            certain = certain and answer.error_code in (
                ErrorCode.CONCURRENT_TRANSACTIONS,
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
            )
            yield from self.again_or_raise(answer.error_code)
        self.world.history.add(Ended(self.transaction, Fate.COMMITTED if commit else Fate.ABORTED))
        self._ended(answer)

    def abort(self) -> Script[None]:
        """After an `AbortableError`: what was sent may not have arrived, so its sequence cannot go on."""
        yield from self.end(commit=False)
        yield from self._renew()

    def again_or_raise(self, code: int) -> Script[None]:
        if code in COORDINATOR_BUSY:
            yield from find_coordinator(self.transactional_id, TRANSACTION)
        if code in _FENCED:
            raise FencedError(ErrorCode(code).name)
        if code not in _AGAIN and not ErrorCode(code).retriable:
            raise AbortableError(ErrorCode(code).name)
        yield from rest(PAUSE_MS)

    # --- what the versions differ in -----------------------------------------------------------------------

    @abc.abstractmethod
    def _add_partition(self, place: TopicPartition) -> Script[None]: ...

    @abc.abstractmethod
    def _add_offsets(self, group: str) -> Script[None]: ...

    @abc.abstractmethod
    def _ended(self, answer: EndTxnResponse) -> None: ...

    @abc.abstractmethod
    def _renew(self) -> Script[None]: ...
