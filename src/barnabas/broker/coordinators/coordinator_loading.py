"""A coordinator's shard comes to life: its partition's log is read piece by piece and replayed.

A worker reads, so that a cold disk stops nobody; the loop replays a small piece at a time and serves others
in between. What the leader before us appended last may not be committed yet: nobody hears of it until it is.
Requests meanwhile get COORDINATOR_LOAD_IN_PROGRESS.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from barnabas.broker.replication.partition import ACKS_ALL
from barnabas.coordination.outcome import Entry, Producer
from barnabas.protocol.codec import MalformedError
from barnabas.protocol.internal.entries import decode_entry
from barnabas.records.batch import BatchHeader, headers
from barnabas.records.control import EndTransactionMarker, parse_control
from barnabas.records.errors import RecordsError
from barnabas.records.walk import Record, records_of

if TYPE_CHECKING:
    from barnabas.broker.coordinators.hosted_shard import HostedShard

log = logging.getLogger("kafka.coordinator")

_PIECE_BYTES = 64 << 10  # replayed in a few milliseconds
_BATCH_MAX_BYTES = 128 << 20  # uncompressed; we write none that comes near


class Loading:
    def __init__(self, hosted: HostedShard[Any], done: Callable[[], None]) -> None:
        self._hosted = hosted
        self._partition = hosted.partition
        self._done = done
        self._offset = -1
        self._found_end = -1  # where the log ended when all of it was replayed
        self._reading = False

    def begin(self) -> None:
        if self._partition.log is not None:
            self._offset = self._partition.log.log_start_offset
            self._next()

    def _next(self) -> None:
        """Up to the end as it is by then: markers may be appended while we read."""
        source = self._partition.log
        if self._hosted.is_closed or source is None:
            return
        end_offset = source.log_end_offset
        try:
            found = source.read(self._offset, _PIECE_BYTES, upper_offset=end_offset).slice
        except OSError as error:
            self._hosted.node.disk_failed(self._partition, error)
            return
        if found is None:
            self._at_end(end_offset)
            return
        self._reading = True

        def read() -> bytes:
            return found.file.read(found.position, found.size)

        self._hosted.node.workers.submit(read, self._got)

    def _at_end(self, end_offset: int) -> None:
        """The end as it was first found counts: waiting for what markers add, too, might never end."""
        if self._found_end < 0:
            self._found_end = end_offset
        if self._partition.is_committed(self._found_end - 1, ACKS_ALL):
            self._done()

    def moved(self) -> None:
        """The partition's high watermark may have reached what we replayed."""
        if self._found_end >= 0 and not self._reading:
            self._next()

    def _got(self, result: object, error: BaseException | None) -> None:
        self._reading = False
        if self._hosted.is_closed or self._partition.log is None:
            return
        if error is not None:
            self._hosted.node.disk_failed(self._partition, error)
            return
        assert isinstance(result, bytes)
        before = self._offset
        try:
            for position, header in headers(result, 0, len(result)):
                self._batch(result, position, header)
                self._offset = max(self._offset, header.next_offset)
        except RecordsError as problem:
            self._give_up(str(problem))
            return
        if self._offset == before:
            self._give_up(f"no whole batch at offset {before}")
            return
        self._next()

    def _give_up(self, why: str) -> None:
        """Bytes are wrong: without them the state would be a guess, so nobody coordinates here. Clients hear
        NOT_COORDINATOR and ask on; the next leader epoch, here or at another broker, tries again."""
        log.error("Cannot load %s: %s", self._partition, why)
        self._hosted.close()

    def _batch(self, piece: bytes, position: int, header: BatchHeader) -> None:
        producer = Producer(header.producer_id, header.producer_epoch) if header.is_transactional else None
        for record in records_of(piece, position, header, _BATCH_MAX_BYTES):
            if record.offset < self._offset:
                continue
            if not header.is_control:
                self._replay(record, producer)
            elif producer is not None:
                control = parse_control(record)
                if isinstance(control, EndTransactionMarker):
                    self._hosted.shard.end_transaction(producer, control.committed)

    def _replay(self, record: Record, producer: Producer | None) -> None:
        """A record that we cannot read is not ours to judge: leave it in the log and go on, loudly."""
        try:
            entry = decode_entry(self._partition.topic, record.key or b"", record.value)
        except MalformedError as problem:
            log.error("Skipping the record at offset %d of %s: %s", record.offset, self._partition, problem)
            return
        if entry is None:
            log.warning(
                "Skipping a record of unknown type at offset %d of %s", record.offset, self._partition
            )
            return
        self._hosted.shard.replay(Entry(*entry), record.offset, producer)
