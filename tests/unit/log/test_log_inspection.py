from __future__ import annotations

import pytest
from tests.unit.log.log_support import append, batch, batches_in, open_test_log

from barnabas.log.config import LogConfig, TimestampType
from barnabas.log.log import Log
from barnabas.log.producer_entry import Origin
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.records.compress import Codec
from barnabas.records.errors import RejectedRecordsError
from barnabas.records.walk import records_of
from barnabas.sim.disk import SimulatedDisk


def log_with(**settings: object) -> Log:
    named = {name.replace("_", "."): value for name, value in settings.items()}
    return open_test_log(SimulatedDisk(), LogConfig.from_settings(named))


def test_settings_are_read_by_kafkas_names() -> None:
    config = LogConfig.from_settings(
        {
            "cleanup.policy": "compact,delete",
            "retention.ms": "-1",
            "min.cleanable.dirty.ratio": 0.1,
            "unclean.leader.election.enable": "true",
            "message.timestamp.type": "LogAppendTime",
            "unknown.setting": "x",
            "compression.gzip.level": 5,
            "max.message.bytes": None,
        }
    )
    assert config.compact
    assert config.delete
    assert (config.retention_ms, config.min_cleanable_dirty_ratio) == (-1, 0.1)
    assert config.unclean_leader_election_enable
    assert config.message_timestamp_type is TimestampType.LOG_APPEND_TIME
    assert (config.compression_gzip_level, config.max_message_bytes) == (5, 1048588)
    again = LogConfig.from_settings({"retention.ms": 7}, config)
    assert (again.retention_ms, again.unclean_leader_election_enable) == (7, True)


def test_a_compacted_topic_wants_keys() -> None:
    log = log_with(cleanup_policy="compact")
    append(log, batch(1, key=b"k"))
    with pytest.raises(RejectedRecordsError) as refused:
        append(log, batch(2))
    assert refused.value.code is ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in refused.value.record_errors] == [0, 1]
    assert log.log_end_offset == 1


def test_timestamps_out_of_bounds_are_refused() -> None:
    log = log_with(message_timestamp_before_max_ms=100, message_timestamp_after_max_ms=50)
    append(log, batch(2, timestamps=[900, 1050]))
    for bad in ([899, 1000], [1000, 1051]):
        with pytest.raises(ApiError) as refused:
            append(log, batch(2, timestamps=bad))
        assert refused.value.code is ErrorCode.INVALID_TIMESTAMP
    assert log.log_end_offset == 2


def test_the_future_is_refused_by_default() -> None:
    log = log_with()
    with pytest.raises(ApiError) as refused:
        append(log, batch(1, timestamps=[1000 + 3_600_001]))
    assert refused.value.code is ErrorCode.INVALID_TIMESTAMP


def test_a_codec_asked_for_is_given_to_what_coordinators_append_too() -> None:
    log = log_with(cleanup_policy="compact", compression_type="lz4")
    append(log, batch(3, key=b"k", value=b"x" * 200), origin=Origin.COORDINATOR)
    assert [header.codec for header in batches_in(log.read(0, 1 << 20, upper_offset=3))] == [Codec.LZ4]


@pytest.mark.parametrize("target", ["gzip", "lz4", "zstd", "snappy", "uncompressed"])
def test_a_topic_may_ask_for_another_codec(target: str) -> None:
    log = log_with(compression_type=target)
    append(log, batch(3, value=b"x" * 200, timestamps=[5, 9, 7], codec=Codec.LZ4))
    append(log, batch(3, value=b"y" * 200, codec=Codec.NONE))
    read = log.read(0, 1 << 20, upper_offset=6)
    codecs = {header.codec for header in batches_in(read)}
    expected = Codec.NONE if target == "uncompressed" else Codec[target.upper()]
    assert codecs == {expected}
    assert read.slice is not None
    data = read.slice.file.read(read.slice.position, read.slice.size)
    first = batches_in(read)[0]
    assert [record.timestamp for record in records_of(data, 0, first, 10_000)] == [5, 9, 7]
    assert [header.base_offset for header in batches_in(read)] == [0, 3]


@pytest.mark.parametrize("policy", ["compact", "delete"])
def test_what_a_coordinator_made_is_written_as_the_general_way_would_write_it(policy: str) -> None:
    """Through rolls and index entries, and with a new leader epoch on the way."""
    settings = {"cleanup_policy": policy, "segment_bytes": 4096, "index_interval_bytes": 300}
    short, general = log_with(**settings), log_with(**settings)
    for number in range(100):
        made = batch(1 + number % 3, key=b"k", value=b"x" * number, timestamps=[1000 + number] * 3)
        now_ms, epoch = 1000 + number, number // 40
        own = short.append_own(bytearray(made), 1 + number % 3, leader_epoch=epoch, now_ms=now_ms)
        assert own == general.append_as_leader(
            made, 0, len(made), leader_epoch=epoch, now_ms=now_ms, origin=Origin.COORDINATOR
        )
    assert short.leader_epochs.entries == general.leader_epochs.entries
    assert short.producers.end_offset == general.producers.end_offset
    assert len(short.segments) > 3
    for ours, theirs in zip(short.segments, general.segments, strict=True):
        assert ours.file.read(0, ours.size) == theirs.file.read(0, theirs.size)
        assert list(ours.offset_index.offsets) == list(theirs.offset_index.offsets)


@pytest.mark.parametrize(
    "settings",
    [
        {"compression_type": "gzip"},
        {"message_timestamp_type": "LogAppendTime"},
        {"max_message_bytes": 50},
        {"segment_bytes": 50},
    ],
)
def test_what_must_be_changed_or_refused_takes_the_general_way(settings: dict[str, object]) -> None:
    log = log_with(**settings)
    made = batch(1, key=b"k")
    assert log.append_own(made, 1, leader_epoch=0, now_ms=1000) is None
    assert log.log_end_offset == 0
