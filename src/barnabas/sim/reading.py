"""What a consumer makes of the bytes of a Fetch answer, as the Java client does it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from barnabas.protocol.messages.fetch import PartitionData
from barnabas.records.batch import HEADER_SIZE, MAGIC, BatchHeader, crc_matches, read_header
from barnabas.records.control import EndTransactionMarker, parse_control
from barnabas.records.errors import MalformedRecordsError
from barnabas.records.walk import Record, records_of
from barnabas.sim.history import SeenRecord

_LIMIT = 1 << 24


@dataclass(slots=True)
class Read:
    """The records of whole batches, the offsets that were passed over knowingly, the offset behind all of
    them, and what is wrong with the bytes."""

    records: list[SeenRecord] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    next_offset: int = 0
    leader_epoch: int = -1  # of the last batch
    problem: str = ""


class Aborted:
    """Which producers' records count for nothing, while one reads on: from the first offset of an aborted
    transaction to its marker."""

    def __init__(self, data: PartitionData) -> None:
        self._coming = sorted((one.first_offset, one.producer_id) for one in data.aborted_transactions or ())
        self._now: set[int] = set()

    def hides(self, header: BatchHeader, records: list[Record]) -> bool:
        while self._coming and self._coming[0][0] <= header.last_offset:
            self._now.add(self._coming.pop(0)[1])
        if header.is_control:
            if _is_abort(records):
                self._now.discard(header.producer_id)
            return True
        return header.is_transactional and header.producer_id in self._now


def _is_abort(records: list[Record]) -> bool:
    control = parse_control(records[0]) if records else None
    return isinstance(control, EndTransactionMarker) and not control.committed


def read_answer(data: PartitionData, *, read_committed: bool) -> Read:
    assert isinstance(data.records, (bytes, bytearray, memoryview, type(None)))
    return read_batches(bytes(data.records or b""), Aborted(data) if read_committed else None)


def read_batches(data: bytes, aborted: Aborted | None = None) -> Read:
    """A cut-off last batch is no problem, a cut-off first one is: a consumer could never go on."""
    read = Read()
    position = 0
    while position < len(data) and not read.problem:
        header = read_header(data, position) if len(data) - position >= HEADER_SIZE else None
        if header is not None and (header.magic != MAGIC or header.size < HEADER_SIZE):
            read.problem = f"no batch at byte {position}"
        elif header is None or position + header.size > len(data):
            read.problem = "" if position else "the first batch is cut off"
            break
        elif not crc_matches(data, position, header):
            read.problem = f"wrong checksum at offset {header.base_offset}"
        else:
            _take(read, data, position, header, aborted)
            position += header.size
    return read


def _take(read: Read, data: bytes, position: int, header: BatchHeader, aborted: Aborted | None) -> None:
    try:
        found = list(records_of(data, position, header, _LIMIT))
    except MalformedRecordsError as malformed:
        read.problem = str(malformed)
        return
    hidden = header.is_control if aborted is None else aborted.hides(header, found)
    if hidden:
        read.skipped += _offsets(header, found)
    else:
        read.records += [SeenRecord(one.offset, one.key, one.value, one.timestamp) for one in found]
    read.next_offset, read.leader_epoch = header.next_offset, header.leader_epoch


def _offsets(header: BatchHeader, found: Iterable[Record]) -> list[int]:
    return [one.offset for one in found] or list(range(header.base_offset, header.next_offset))
