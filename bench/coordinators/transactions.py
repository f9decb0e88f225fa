"""Transactions over raw connections, as a client on transactions version 2 (KIP-890) makes them: one Produce
that names the transaction and so adds its partitions, then EndTxn, whose answer carries the next epoch.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from barnabas.records.batch import PRODUCER_ID_AT, seal
from barnabas.records.build import build_batch
from barnabas.records.walk import Record
from bench.coordinators.ask import RETRY_S, STARTING, ask, check, framed, read
from bench.coordinators.latency import percentiles_us
from bench.coordinators.script import Pause, Script, Stage, Step
from bench.coordinators.topics import NOT_LEADING_YET, now_ms
from bench.scale import Scale
from bench.subject import Subject

Figures = dict[str, float]
TRANSACTION = 1  # the kind of coordinator
RECORDS = 100
RECORD_BYTES = 100
TRANSACTION_TIMEOUT_MS = 60_000
# The markers of the previous transaction are still being written: ask again soon. Clients wait 20 to 100 ms.
CONCURRENT_RETRY_S = 0.001
# How long the broker itself waits before it asks again on behalf of a Produce that came too early.
NO_BACK_OFF: dict[str, object] = {
    "add.partitions.to.txn.retry.backoff.ms": 1,
    "add.partitions.to.txn.retry.backoff.max.ms": 1,
}
_ASK_AGAIN = NOT_LEADING_YET | {ErrorCode.CONCURRENT_TRANSACTIONS}
_PRODUCER = struct.Struct(">qh")


@dataclass(slots=True)
class TransactionalProducer:
    """Transactions one after the other until told to stop; every `abort_every`th is aborted, if not 0."""

    transactional_id: str
    topic: str
    partitions: int
    record_bytes: int = RECORD_BYTES
    abort_every: int = 0
    transactions_max: int | None = None
    is_stopping: bool = False
    commit_s: list[float] = field(default_factory=list)
    ended: int = 0
    retries: int = 0
    _producer_id: int = -1
    _epoch: int = -1

    def script(self) -> Script:
        yield from self._initialise()
        frames = {committed: self._produce_frame(committed) for committed in (True, False)}
        while not self.is_stopping and self.ended != self.transactions_max:
            committed = not self.abort_every or (self.ended + 1) % self.abort_every != 0
            yield from self._produce(*frames[committed])
            started_at = time.perf_counter()
            yield from self._end(committed)
            self.commit_s.append(time.perf_counter() - started_at)
            self.ended += 1

    def _initialise(self) -> Generator[Step, Any, None]:
        """Asking who coordinates makes the broker create the internal topic."""
        while True:
            who = FindCoordinatorRequest(key_type=TRANSACTION, coordinator_keys=[self.transactional_id])
            yield from ask(who, FindCoordinatorResponse)
            request = InitProducerIdRequest(self.transactional_id, TRANSACTION_TIMEOUT_MS)
            answer = yield from ask(request, InitProducerIdResponse)
            if answer.error_code not in STARTING and answer.error_code != ErrorCode.CONCURRENT_TRANSACTIONS:
                break
            yield Pause(RETRY_S)
        check(answer.error_code, "InitProducerId")
        self._producer_id, self._epoch = answer.producer_id, answer.producer_epoch

    def _produce(self, frame: bytearray, batches: Sequence[tuple[int, int]]) -> Generator[Step, Any, None]:
        for position, size in batches:
            _PRODUCER.pack_into(frame, position + PRODUCER_ID_AT, self._producer_id, self._epoch)
            seal(frame, position, size)
        while True:
            reply = read(ProduceRequest, ProduceResponse, (yield frame))
            errors = {each.error_code for each in reply.responses[0].partition_responses}
            if not errors & _ASK_AGAIN:
                break
            # Whole again: a partition that took its batch recognises it by its sequence.
            self.retries += 1
            yield Pause(CONCURRENT_RETRY_S)
        for error in errors:
            check(error, "Produce")

    def _end(self, committed: bool) -> Generator[Step, Any, None]:
        request = EndTxnRequest(self.transactional_id, self._producer_id, self._epoch, committed)
        answer = yield from ask(request, EndTxnResponse)
        check(answer.error_code, "EndTxn")
        self._producer_id, self._epoch = answer.producer_id, answer.producer_epoch

    def _produce_frame(self, committed: bool) -> tuple[bytearray, list[tuple[int, int]]]:
        """A request encoded once, and where its batches are: only the epoch and the checksums change."""
        value = (b"c" if committed else b"a") * self.record_bytes
        timestamp_ms = now_ms()
        records = [Record(offset, timestamp_ms, None, value) for offset in range(RECORDS // self.partitions)]
        batch = build_batch(records, producer_id=0, producer_epoch=0, base_sequence=0, transactional=True)
        data = [PartitionProduceData(partition, batch) for partition in range(self.partitions)]
        topic = TopicProduceData(name=self.topic, partition_data=data)
        frame = framed(ProduceRequest(self.transactional_id, -1, 30_000, [topic]))
        places, position = [], 0
        for _ in data:
            position = frame.index(batch, position)
            places.append((position, len(batch)))
            position += len(batch)
        return frame, places


def run_to_end(port: int, producers: Sequence[TransactionalProducer]) -> None:
    with Stage(port) as stage:
        tasks = stage.start_all(producer.script() for producer in producers)
        stage.run_until(lambda: all(task.is_finished for task in tasks), "the last transaction", 600)


def transactions(partitions: int, producers: int) -> Callable[[Subject, Scale], Figures]:
    def run(subject: Subject, scale: Scale) -> Figures:
        topic = subject.fresh_topic(f"transactions-{partitions}", partitions=partitions)
        names = [f"{topic}-{number}" for number in range(producers)]
        with Stage(subject.port) as stage:
            at_work = [TransactionalProducer(name, topic, partitions) for name in names]
            return _measure(stage, subject, at_work, scale.seconds)

    return run


def transactions_without_back_off(partitions: int, producers: int) -> Callable[[Subject, Scale], Figures]:
    """On brokers of their own that try again after a millisecond where Apache Kafka's default is 20 to 100.
    Freshly started, so the whole load runs once before it counts.
    """

    def run(subject: Subject, scale: Scale) -> Figures:
        with subject.sibling(NO_BACK_OFF) as fresh:
            transactions(partitions, producers)(fresh, scale)
            return transactions(partitions, producers)(fresh, scale)

    return run


def _measure(
    stage: Stage, subject: Subject, producers: Sequence[TransactionalProducer], seconds: float
) -> Figures:
    tasks = stage.start_all(producer.script() for producer in producers)
    stage.run_until(lambda: all(each.ended for each in producers), "the first transactions")
    stage.run_for(seconds)
    for each in producers:
        each.commit_s.clear()
        each.retries = 0
    meter = subject.meter()
    elapsed_s = stage.run_for(seconds)
    cpu_s = meter.seconds()
    commit_s = [latency_s for each in producers for latency_s in each.commit_s]
    retries = sum(each.retries for each in producers)
    for each in producers:
        each.is_stopping = True
    stage.run_until(lambda: all(task.is_finished for task in tasks), "the last transactions")
    return {
        "rate": len(commit_s) / elapsed_s,
        "CPU per transaction": cpu_s / len(commit_s) * 1e6,
        "retries per transaction": retries / len(commit_s),
        **percentiles_us(commit_s),
    }
