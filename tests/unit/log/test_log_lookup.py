from __future__ import annotations

import pytest
from tests.unit.log.log_support import append, batch, open_test_log

from barnabas.log.config import LogConfig
from barnabas.log.log import Log
from barnabas.records.compress import Codec
from barnabas.sim.disk import SimulatedDisk

TIMES = [[10, 30, 20], [25, 5, 40], [35, 40, 12]]


def timed_log(codec: Codec = Codec.NONE, segment_bytes: int = 1 << 20) -> Log:
    log = open_test_log(SimulatedDisk(), LogConfig(segment_bytes=segment_bytes, index_interval_bytes=0))
    for times in TIMES:
        append(log, batch(3, timestamps=times, codec=codec))
    return log


@pytest.mark.parametrize("segment_bytes", [1 << 20, 130])
@pytest.mark.parametrize("codec", list(Codec))
def test_the_first_record_at_or_after_a_timestamp_is_found_exactly(codec: Codec, segment_bytes: int) -> None:
    log = timed_log(codec, segment_bytes)
    flat = [time for times in TIMES for time in times]
    for timestamp in range(45):
        expected = next((offset for offset, time in enumerate(flat) if time >= timestamp), None)
        found = log.offset_for_timestamp(timestamp)
        assert (None if found is None else found.offset) == expected, timestamp
        assert found is None or found.timestamp == flat[found.offset]


def test_deleted_records_are_not_found_by_their_timestamp() -> None:
    log = timed_log()
    log.update_high_watermark(9)
    log.delete_records_before(2)
    found = log.offset_for_timestamp(0)
    assert found is not None
    assert found.offset == 2


def test_the_largest_timestamp_names_its_first_record() -> None:
    found = timed_log().offset_of_max_timestamp()
    assert found is not None
    assert (found.timestamp, found.offset, found.leader_epoch) == (40, 5, 0)


def test_an_empty_log_has_no_timestamps() -> None:
    log = open_test_log(SimulatedDisk())
    assert log.offset_of_max_timestamp() is None
    assert log.offset_for_timestamp(0) is None
    assert tuple(log.earliest_offset()) == (-1, 0, -1)


def test_bytes_available_counts_across_segments() -> None:
    log = timed_log(segment_bytes=130)
    assert log.bytes_available(0, 9) == log.size
    assert log.bytes_available(3, 6) == len(batch(3, timestamps=TIMES[1]))
    assert log.bytes_available(9, 9) == 0
