"""What the tests of this room share: strategies for records, and batches with a lie in the header."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from barnabas.records import batch as b
from barnabas.records.build import build_batch
from barnabas.records.walk import Record, records_of

LIMIT = 1 << 22

small_bytes = st.binary(max_size=300)
headers = st.lists(st.tuples(st.text(max_size=20), st.none() | small_bytes), max_size=4).map(tuple)
timestamps = st.integers(-1, 2**53)
any_record = st.builds(
    Record, st.just(0), timestamps, st.none() | small_bytes, st.none() | small_bytes, headers
)


@st.composite
def record_lists(draw: st.DrawFn, min_size: int = 0, gaps: bool = False) -> list[Record]:
    records: list[Record] = []
    offset = -1
    for record in draw(st.lists(any_record, min_size=min_size, max_size=12)):
        offset += draw(st.integers(1, 500)) if gaps else 1
        records.append(record._replace(offset=offset))
    return records


def read(batch: bytes | bytearray) -> list[Record]:
    return list(records_of(batch, 0, b.read_header(batch), LIMIT))


def some_records(count: int, *, timestamp: int = 1000, key: bytes | None = b"key") -> list[Record]:
    return [Record(i, timestamp + i, key, b"value %d" % i, (("h", b"x"),)) for i in range(count)]


def with_header(batch: bytearray, **fields: int) -> bytearray:
    """The same bytes under another header, with a right checksum: a sender that lies."""
    lie = bytearray(batch)
    b.HEADER.pack_into(lie, 0, *b.read_header(batch)._replace(**fields))
    b.seal(lie, 0, len(lie))
    return lie


def with_payload(payload: bytes, count: int, **fields: int) -> bytearray:
    frame = build_batch([], last_offset_delta=count - 1) + payload
    return with_header(frame, length=len(frame) - b.LOG_OVERHEAD, count=count, **fields)


def encoded(records: Sequence[Record]) -> bytes:
    return bytes(build_batch(records)[b.HEADER_SIZE :])
