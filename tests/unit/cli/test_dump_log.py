"""Segment and index files as text, and what the dump finds wrong with them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from barnabas.cli.dump_index import (
    CorruptFileError,
    index_lines,
    snapshot_lines,
    time_index_lines,
    transaction_index_lines,
)
from barnabas.cli.dump_log import Findings, LogView, log_lines
from barnabas.log.producer_snapshots import CorruptSnapshotError
from barnabas.records.build import build_batch
from barnabas.records.control import EndTransactionMarker, build_marker
from barnabas.records.walk import Record

DEEP = LogView(deep=True, contents=True)


def batch(base_offset: int, *values: bytes, timestamp: int = 1_000) -> bytes:
    records = [
        Record(base_offset + index, timestamp + index, b"k", value, (("h", None),))
        for index, value in enumerate(values)
    ]
    return bytes(build_batch(records, base_offset=base_offset))


def log_file(directory: Path, *pieces: bytes, base_offset: int = 0) -> Path:
    path = directory / f"{base_offset:020d}.log"
    path.write_bytes(b"".join(pieces))
    return path


def beside(path: Path, suffix: str, data: bytes) -> Path:
    other = path.with_suffix(suffix)
    other.write_bytes(data)
    return other


def test_batches_and_records_have_kafkas_lines(tmp_path: Path) -> None:
    lines = list(log_lines(log_file(tmp_path, batch(0, b"one", b"two")), DEEP, Findings()))
    assert len(lines) == 3
    assert lines[0].startswith(
        "baseOffset: 0 lastOffset: 1 count: 2 baseSequence: -1 lastSequence: -1 producerId: -1 "
        "producerEpoch: -1 partitionLeaderEpoch: -1 isTransactional: false isControl: false "
        "deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 1001 size: "
    )
    assert lines[0].endswith(" isvalid: true")
    sizes = "keySize: 1 valueSize: 3 sequence: -1 headerKeys: [h]"
    assert lines[1:] == [
        f"| offset: 0 CreateTime: 1000 {sizes} key: k payload: one",
        f"| offset: 1 CreateTime: 1001 {sizes} key: k payload: two",
    ]


def test_transaction_markers_are_named(tmp_path: Path) -> None:
    marker = bytes(build_marker(EndTransactionMarker(True, 5), producer_id=9, producer_epoch=1, timestamp=7))
    *_, line = log_lines(log_file(tmp_path, marker), DEEP, Findings())
    assert line == (
        "| offset: 0 CreateTime: 7 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] "
        "endTxnMarker: COMMIT coordinatorEpoch: 5"
    )


def test_contents_alone_leave_the_metadata_out(tmp_path: Path) -> None:
    view = LogView(deep=True, contents=True, metadata=False)
    _, line = log_lines(log_file(tmp_path, batch(0, b"one")), view, Findings())
    assert line == "| key: k payload: one"


def test_a_torn_end_is_measured_and_garbage_does_not_stop_the_dump(tmp_path: Path) -> None:
    whole = batch(0, b"one")
    torn = log_file(tmp_path, whole, whole[:30])
    assert (
        list(log_lines(torn, LogView(), Findings()))[-1]
        == f"Found 30 invalid bytes at the end of {torn.name}"
    )
    garbage = log_file(tmp_path, whole, bytes(100), base_offset=1)
    assert list(log_lines(garbage, LogView(), Findings()))[-1].startswith("Found 100 invalid bytes")
    assert list(log_lines(log_file(tmp_path, base_offset=2), LogView(), Findings())) == []


def test_a_flipped_bit_is_seen(tmp_path: Path) -> None:
    damaged = bytearray(batch(0, b"one"))
    damaged[-2] ^= 1
    (line,) = log_lines(log_file(tmp_path, bytes(damaged)), LogView(), Findings())
    assert line.endswith(" isvalid: false")


def test_records_that_contradict_their_header_are_reported_at_the_end(tmp_path: Path) -> None:
    damaged = bytearray(batch(0, b"one"))
    damaged[61] = 0x7F  # the first record's length
    findings = Findings()
    assert len(list(log_lines(log_file(tmp_path, bytes(damaged), batch(1, b"two")), DEEP, findings))) == 3
    assert "  0 to 0" in findings.lines()


def test_no_more_than_the_bytes_asked_for_are_read(tmp_path: Path) -> None:
    one = batch(0, b"one")
    path = log_file(tmp_path, one, batch(1, b"two"))
    assert len(list(log_lines(path, LogView(bytes_max=len(one) + 5), Findings()))) == 1


def test_gaps_between_offsets_are_reported_but_not_where_the_segment_begins(tmp_path: Path) -> None:
    findings = Findings()
    path = log_file(tmp_path, batch(7, b"a"), batch(9, b"b"), base_offset=7)
    list(log_lines(path, DEEP, findings))
    assert list(findings.lines()) == [f"Non-consecutive offsets in {path}", "  7 is followed by 9"]


def test_an_index_is_compared_with_its_log(tmp_path: Path) -> None:
    one = batch(0, b"a", b"b")
    log = log_file(tmp_path, one, batch(2, b"c"))
    entries = struct.pack(">iiii", 1, 0, 3, len(one))
    index = beside(log, ".index", entries + bytes(64))  # sized ahead with zeros
    findings = Findings()
    assert list(index_lines(index, False, False, findings)) == [
        "offset: 1 position: 0",
        f"offset: 3 position: {len(one)}",
    ]
    assert list(findings.lines()) == [f"Mismatches in :{index}", "  Index offset: 3, log offset: 2"]
    assert list(index_lines(index, False, True, Findings())) == []
    assert list(index_lines(index, True, False, Findings())) == [f"{index} passed sanity check."]


def test_an_index_of_the_wrong_size_fails_the_sanity_check(tmp_path: Path) -> None:
    index = beside(log_file(tmp_path, batch(0, b"a")), ".index", struct.pack(">ii", 1, 0) + b"xyz")
    with pytest.raises(
        CorruptFileError, match="found 11 bytes which is neither positive nor a multiple of 8"
    ):
        list(index_lines(index, True, False, Findings()))
    times = beside(index, ".timeindex", struct.pack(">qi", 1, 0) + b"x")
    with pytest.raises(CorruptFileError, match="found 13 bytes"):
        list(time_index_lines(times, True, False, Findings()))


def test_a_time_index_is_compared_with_its_log(tmp_path: Path) -> None:
    one, two = batch(0, b"a", b"b"), batch(2, b"c", timestamp=5_000)
    log = log_file(tmp_path, one, two)
    beside(log, ".index", struct.pack(">ii", 1, 0))
    times = beside(log, ".timeindex", struct.pack(">qiqiqi", 1_001, 1, 4_999, 2, 6_000, 9))
    findings = Findings()
    assert list(time_index_lines(times, False, False, findings)) == [
        "timestamp: 1001 offset: 1",
        "timestamp: 4999 offset: 2",
        "timestamp: 6000 offset: 9",
    ]
    assert list(findings.lines()) == [
        f"Found timestamp mismatch in :{times}",
        "  Index timestamp: 4999, log timestamp: 5000",
        f"The following indexed offsets are not found in :{times}",
        "Indexed offset: 9, found log offset: -1",
    ]


def test_aborted_transactions_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.txnindex"
    path.write_bytes(struct.pack(">hqqqq", 0, 7, 1, 5, 6) + b"torn")
    assert list(transaction_index_lines(path)) == [
        "version: 0 producerId: 7 firstOffset: 1 lastOffset: 5 lastStableOffset: 6"
    ]


def test_a_snapshot_that_is_garbage_says_so(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.snapshot"
    path.write_bytes(b"\0\1garbage that is long enough")
    with pytest.raises(CorruptSnapshotError):
        list(snapshot_lines(path))
