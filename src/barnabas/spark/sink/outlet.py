"""Rows out to partitions, in the name of one producer, sequence numbers going on per partition."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.records.arrow.encode import Encoded, encode
from barnabas.records.batch import increment_sequence
from barnabas.records.errors import TooLargeError
from barnabas.spark.errors import PipelineError
from barnabas.spark.sink.reports import FencedError, Written
from barnabas.spark.sink.rows import Rows
from barnabas.spark.sink.settings import Sink
from barnabas.wire import Cluster
from barnabas.wire.admin.offsets import Spec, list_offsets
from barnabas.wire.producing import Appender, Batch, NotAppendedError
from barnabas.wire.transactions import Producer, Transactions

# Somebody has the id. A transaction that must merely be aborted (TRANSACTION_ABORTABLE, INVALID_TXN_STATE) is
# not among them: that is a lost attempt, and the next one aborts it.
FENCED = frozenset(
    {
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.PRODUCER_FENCED,
    }
)
_TOO_LARGE = frozenset({ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE})
_REFUSED = frozenset(
    {
        ErrorCode.INVALID_RECORD,
        ErrorCode.POLICY_VIOLATION,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
    }
)


class SharedPartitionError(Exception):
    """Somebody else writes to one of our partitions with our producer id: another task, or an earlier attempt
    of this one."""

    def __init__(self, partition: TopicPartition, why: str) -> None:
        super().__init__(why)
        self.partition = partition


class Outlet:
    def __init__(self, sink: Sink, cluster: Cluster, producer: Producer) -> None:
        self._sink = sink
        self._cluster = cluster
        self._producer = producer
        self._appender = Appender(cluster, producer.transactional_id, sink.delivery_timeout_ms)
        self._transactions = (
            None if producer.transactional_id is None else Transactions(cluster, producer.transactional_id)
        )
        self._sequences: dict[TopicPartition, int] = {}
        self._written: dict[TopicPartition, Written] = {}

    @property
    def written(self) -> tuple[Written, ...]:
        return tuple(self._written.values())

    def send(self, rows: Mapping[TopicPartition, Rows]) -> None:
        """All of it is in the log when this returns."""
        self.send_batches(
            {
                partition: encoded(self._sink, self._producer, partition, part, self.next_sequence(partition))
                for partition, part in rows.items()
            }
        )

    def send_batches(self, batches: Mapping[TopicPartition, Iterator[Encoded]]) -> None:
        """A request takes one batch of a partition: as many rounds as the longest has batches."""
        try:
            self._join(batches)
            while True:
                nexts = {partition: next(left, None) for partition, left in batches.items()}
                round_ = {
                    where: Batch(one.batch, one.count) for where, one in nexts.items() if one is not None
                }
                if not round_:
                    return
                for partition, offset in self._appender.append(round_).items():
                    self._note(partition, offset, round_[partition].count)
        except ApiError as error:
            raise _translated(error) from error
        except NotAppendedError as error:
            raise SharedPartitionError(error.partition, str(error)) from error

    def next_sequence(self, partition: TopicPartition) -> int:
        return self._sequences.get(partition, 0)

    def go_on_after(self, written: Written) -> None:
        """Another process wrote these records in the name of our producer and has finished."""
        partition = TopicPartition(written.topic, written.partition)
        self._sequences[partition] = increment_sequence(self.next_sequence(partition), written.count)

    def _join(self, partitions: Mapping[TopicPartition, object]) -> None:
        new = [partition for partition in partitions if partition not in self._written]
        if not new or self._transactions is None:
            return
        self._transactions.add(self._producer, new)
        # A task does not know whether an earlier attempt of its stage has been here with the same producer.
        for partition, found in list_offsets(self._cluster, dict.fromkeys(new, Spec.LATEST)).items():
            if isinstance(found, ApiError):
                raise found
            self._appender.expect_beyond(partition, found.offset - 1)

    def _note(self, partition: TopicPartition, offset: int, count: int) -> None:
        self._sequences[partition] = increment_sequence(self.next_sequence(partition), count)
        before = self._written.get(partition)
        self._written[partition] = Written(
            partition.topic,
            partition.partition,
            count + (before.count if before else 0),
            before.first_offset if before else offset,
            offset + count - 1,
        )


def encoded(
    sink: Sink, producer: Producer, partition: TopicPartition, rows: Rows, sequence: int
) -> Iterator[Encoded]:
    try:
        yield from encode(
            rows.keys,
            rows.values,
            rows.headers,
            timestamp_ms=int(time.time() * 1000),
            batch_bytes=sink.batch_bytes,
            codec=sink.codec,
            level=sink.level,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            base_sequence=sequence,
            transactional=producer.transactional_id is not None,
            request_bytes_max=sink.request_bytes_max,
        )
    except TooLargeError as error:
        raise PipelineError(
            f"A record for {partition} is too large: {error}; raise kafka.max.request.size (and the topic's "
            "max.message.bytes), or make the record smaller."
        ) from error


def _translated(error: ApiError) -> Exception:
    if error.code in FENCED:
        return FencedError(str(error))
    if error.code in _TOO_LARGE:
        return PipelineError(
            f"The broker refuses a batch as too large ({error}): raise the topic's max.message.bytes, or "
            "lower kafka.batch.size and make the records smaller."
        )
    if error.code in _REFUSED:
        return PipelineError(f"The broker refuses the records: {error}")
    return error
