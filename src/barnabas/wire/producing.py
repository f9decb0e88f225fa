"""Append sealed record batches to partitions with acks=all, one batch of a partition at a time.

A batch carries its producer's sequence number, so it may be sent again when the answer was lost: the broker
recognises it and answers with the offset it has had since then. That is the only duplicate this takes for a
success. A batch that the broker takes for another one, as when two writers share a producer id, is an error:
it would be acknowledged without being appended.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.ports import Buffer
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from barnabas.wire.cluster import Cluster
from barnabas.wire.codes import known
from barnabas.wire.errors import DeadlineError, NetworkError
from barnabas.wire.retry import backoff_ms

ALL_REPLICAS = -1
_NAMES_AND_ASKED_UNTIL = 11  # from 12 on a Produce adds its partition to the transaction by itself
_ANOTHER_WRITER = frozenset(
    {
        ErrorCode.DUPLICATE_SEQUENCE_NUMBER,
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.UNKNOWN_PRODUCER_ID,
    }
)


@dataclass(frozen=True, slots=True)
class Batch:
    sealed: Buffer
    count: int


class NotAppendedError(Exception):
    """Another writer uses our producer id: the broker refuses our batch, or takes it for one of theirs and
    acknowledges it without appending."""

    def __init__(self, partition: TopicPartition, why: str) -> None:
        super().__init__(f"{partition}: {why}")
        self.partition = partition


class Appender:
    """Not for threads. `delivery_timeout_ms` is how long one call may go on trying."""

    def __init__(
        self, cluster: Cluster, transactional_id: str | None = None, delivery_timeout_ms: int = 120_000
    ) -> None:
        self._cluster = cluster
        self._transactional_id = transactional_id
        self._delivery_timeout_ms = delivery_timeout_ms
        self._leaders: dict[TopicPartition, int] = {}
        self._last_offsets: dict[TopicPartition, int] = {}

    def expect_beyond(self, partition: TopicPartition, offset: int) -> None:
        """The log reaches to here already: what is acknowledged at or before it was not appended by us."""
        self._last_offsets[partition] = offset

    def append(self, batches: Mapping[TopicPartition, Batch]) -> dict[TopicPartition, int]:
        """The offset of the first record of each. One request for all partitions of a leader, since one
        request takes one batch of a partition."""
        deadline = time.monotonic() + self._delivery_timeout_ms / 1000
        offsets: dict[TopicPartition, int] = {}
        attempt = 0
        while True:
            left = {partition: batch for partition, batch in batches.items() if partition not in offsets}
            if not left:
                return offsets
            trouble: ApiError | NetworkError | None
            try:
                trouble = self._attempt(left, offsets)
            except NetworkError as error:
                trouble = error
            if trouble is not None:
                self._leaders.clear()
                wait_s = backoff_ms(attempt, self._cluster.settings) / 1000
                if time.monotonic() + wait_s >= deadline:
                    raise DeadlineError(str(trouble), trouble) from trouble
                time.sleep(wait_s)
                attempt += 1

    def _attempt(
        self, batches: Mapping[TopicPartition, Batch], offsets: dict[TopicPartition, int]
    ) -> ApiError | None:
        trouble = self._find_leaders(batches)
        by_leader: dict[int, list[TopicPartition]] = {}
        for partition in batches:
            if partition in self._leaders:
                by_leader.setdefault(self._leaders[partition], []).append(partition)
        for node_id, partitions in by_leader.items():
            request = self._request({partition: batches[partition] for partition in partitions})
            answer = self._cluster.call_once(
                request, ProduceResponse, node_id, version_max=_NAMES_AND_ASKED_UNTIL
            )
            for topic in answer.responses:
                for row in topic.partition_responses:
                    partition = TopicPartition(topic.name, row.index)
                    error = self._answered(partition, batches[partition], row, offsets)
                    trouble = error or trouble
        return trouble

    def _find_leaders(self, partitions: Iterable[TopicPartition]) -> ApiError | None:
        unknown = [partition for partition in partitions if partition not in self._leaders]
        if not unknown:
            return None
        grouped, missing = self._cluster.locate(unknown)
        for node_id, led in grouped.items():
            self._leaders.update(dict.fromkeys(led, node_id))
        for error in missing.values():
            if not error.code.retriable:
                raise error
        return next(iter(missing.values()), None)

    def _request(self, batches: Mapping[TopicPartition, Batch]) -> ProduceRequest:
        by_topic: dict[str, list[PartitionProduceData]] = {}
        for partition, batch in batches.items():
            row = PartitionProduceData(partition.partition, batch.sealed)
            by_topic.setdefault(partition.topic, []).append(row)
        topics = [TopicProduceData(name=name, partition_data=rows) for name, rows in by_topic.items()]
        timeout_ms = self._cluster.settings.request_timeout_ms
        return ProduceRequest(self._transactional_id, ALL_REPLICAS, timeout_ms, topics)

    def _answered(
        self,
        partition: TopicPartition,
        batch: Batch,
        row: PartitionProduceResponse,
        offsets: dict[TopicPartition, int],
    ) -> ApiError | None:
        """What a retry may cure, or nothing and the offset is noted; all else is raised."""
        code = known(row.error_code)
        if code in _ANOTHER_WRITER:
            raise NotAppendedError(partition, code.sentence)
        if code:
            error = ApiError(code, row.error_message or None)
            if not code.retriable:
                raise error
            return error
        last = self._last_offsets.get(partition, -1)
        if row.base_offset <= last:
            raise NotAppendedError(
                partition, f"acknowledged at offset {row.base_offset}, which is not beyond {last}"
            )
        self._last_offsets[partition] = row.base_offset + batch.count - 1
        offsets[partition] = row.base_offset
        return None
