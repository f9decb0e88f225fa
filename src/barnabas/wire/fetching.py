"""Read one partition, one answer under way while the caller works on the one before.

    fetcher.ask(offset); answer = fetcher.answer(); fetcher.ask(answer.next_offset); …

A broken connection and a leader that moved are cured by asking again, within `default.api.timeout.ms`. With a
`rack_id` the leader may send us to a replica nearby (KIP-392); after the first trouble with one we stay with
the leader.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.ports import Buffer
from barnabas.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from barnabas.wire.cluster import Cluster
from barnabas.wire.codes import check
from barnabas.wire.connection import Connection, Pending
from barnabas.wire.errors import NetworkError, PeerError
from barnabas.wire.retry import may_retry

_NAMES_UNTIL = 12  # newer versions name topics by id
_LOG_OVERHEAD = 12
_SMALLEST_LENGTH = 49  # a batch without records
_BASE_AND_LENGTH = struct.Struct(">qi")
_LAST_OFFSET_DELTA = struct.Struct(">i")
_LAST_OFFSET_DELTA_AT = 23


class Fetched(NamedTuple):
    records: Buffer  # may end in the middle of a batch
    next_offset: int  # behind the last whole batch; where the question began, if there is none
    aborted: (
        Mapping[int, Sequence[int]] | None
    )  # producer id → first offsets; None: not asked to leave any out
    readable_end: int  # nobody may read at or behind it: the high watermark or the last stable offset
    log_start_offset: int
    throttle_time_ms: int


class Fetcher:
    """One partition of one cluster, which nobody else may use meanwhile."""

    def __init__(
        self,
        cluster: Cluster,
        partition: TopicPartition,
        *,
        read_committed: bool = False,
        max_bytes: int = 8 << 20,
        max_wait_ms: int = 500,
        rack_id: str = "",
    ) -> None:
        self._cluster = cluster
        self._partition = partition
        self._read_committed = read_committed
        self._max_bytes = max_bytes
        self._max_wait_ms = max_wait_ms
        self._rack_id = rack_id
        self._source_id: int | None = None  # the leader, or a replica that it has sent us to
        self._at_replica = False
        self._offset = 0
        self._under_way: tuple[Connection, Pending] | None = None

    def ask(self, offset: int) -> None:
        """Send the question. What goes wrong with it is found out, and cured, by `answer`."""
        assert self._under_way is None, "one question at a time"
        self._offset = offset
        if self._source_id is None:
            return
        try:
            connection = self._cluster.connection(self._source_id)
            self._under_way = connection, connection.begin(self._request(), _NAMES_UNTIL)
        except (NetworkError, ApiError):
            self._look_again()

    def answer(self) -> Fetched:
        """The answer to the last question; ApiError for what a retry does not cure, OFFSET_OUT_OF_RANGE
        above all."""
        if self._under_way is not None:
            connection, pending = self._under_way
            self._under_way = None
            try:
                return self._read(self._finish(connection, pending))
            except (NetworkError, ApiError) as error:
                if not may_retry(error):
                    raise
                self._look_again()
        return self._cluster.retrying(self._exchange)

    def close(self) -> None:
        """An answer that nobody waits for any more would be taken for the next one's."""
        if self._under_way is not None:
            self._cluster.forget(self._under_way[0])
            self._under_way = None

    def _exchange(self) -> Fetched:
        try:
            connection = self._connection()
            try:
                pending = connection.begin(self._request(), _NAMES_UNTIL)
            except NetworkError:
                self._cluster.forget(connection)
                raise
            return self._read(self._finish(connection, pending))
        except (NetworkError, ApiError):
            self._look_again()
            raise

    def _connection(self) -> Connection:
        try:
            return self._cluster.connection(self._source())
        except ApiError as error:
            if error.code is ErrorCode.BROKER_NOT_AVAILABLE:
                # It left just now: there is, or will be, another to read from.
                raise ApiError(ErrorCode.LEADER_NOT_AVAILABLE) from error
            raise

    def _source(self) -> int:
        if self._source_id is None:
            grouped, missing = self._cluster.locate([self._partition])
            for error in missing.values():
                raise error
            (self._source_id,) = grouped
        return self._source_id

    def _look_again(self) -> None:
        """Whoever it was, the metadata says who leads now."""
        self._source_id = None
        if self._at_replica:
            self._at_replica, self._rack_id = False, ""

    def _request(self) -> FetchRequest:
        row = FetchPartition(
            self._partition.partition, fetch_offset=self._offset, partition_max_bytes=self._max_bytes
        )
        return FetchRequest(
            max_wait_ms=self._max_wait_ms,
            min_bytes=1,
            max_bytes=self._max_bytes,
            isolation_level=int(self._read_committed),
            topics=[FetchTopic(topic=self._partition.topic, partitions=[row])],
            rack_id=self._rack_id,
        )

    def _finish(self, connection: Connection, pending: Pending) -> FetchResponse:
        try:
            return connection.finish(pending, FetchResponse)
        except (NetworkError, PeerError):
            self._cluster.forget(connection)
            raise

    def _read(self, response: FetchResponse) -> Fetched:
        check(response.error_code)
        rows = [row for topic in response.responses for row in topic.partitions]
        if len(rows) != 1:
            raise PeerError(f"the broker answered for {len(rows)} partitions instead of one")
        (row,) = rows
        if self._at_replica and row.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            # A replica may be behind, or ahead in what it has deleted: the leader knows.
            raise ApiError(ErrorCode.OFFSET_NOT_AVAILABLE)
        check(row.error_code)
        if self._rack_id and not self._at_replica and row.preferred_read_replica >= 0:
            self._source_id, self._at_replica = row.preferred_read_replica, True
            return self._exchange()
        records = _bytes_of(row)
        return Fetched(
            records,
            _next_offset(records, self._offset),
            _aborted(row) if self._read_committed else None,
            row.last_stable_offset if self._read_committed else row.high_watermark,
            row.log_start_offset,
            response.throttle_time_ms,
        )


def _bytes_of(row: PartitionData) -> Buffer:
    records = row.records
    assert records is None or isinstance(records, bytes | bytearray | memoryview)
    return b"" if records is None else memoryview(records)


def _next_offset(records: Buffer, offset: int) -> int:
    position, size = 0, len(records)
    while position + _LAST_OFFSET_DELTA_AT + 4 <= size:
        base_offset, length = _BASE_AND_LENGTH.unpack_from(records, position)
        if length < _SMALLEST_LENGTH:
            raise PeerError(f"a record batch of {length} bytes came from the broker")
        if position + _LOG_OVERHEAD + length > size:
            break
        (delta,) = _LAST_OFFSET_DELTA.unpack_from(records, position + _LAST_OFFSET_DELTA_AT)
        offset = max(offset, base_offset + delta + 1)
        position += _LOG_OVERHEAD + length
    return offset


def _aborted(row: PartitionData) -> Mapping[int, Sequence[int]]:
    found: dict[int, list[int]] = {}
    for transaction in row.aborted_transactions or ():
        found.setdefault(transaction.producer_id, []).append(transaction.first_offset)
    return found
