"""Batches and logs for the tests of `barnabas.log`."""

from __future__ import annotations

from tests.support.chance import SeededRandom

from barnabas.log.config import LogConfig
from barnabas.log.loading import Opening, open_log
from barnabas.log.log import Log
from barnabas.log.open_files import OpenFiles
from barnabas.log.producer_entry import Origin
from barnabas.log.producer_state import ProducerSettings
from barnabas.log.results import Read
from barnabas.model.ids import TopicPartition
from barnabas.ports import Filesystem
from barnabas.records.batch import COUNT_AT, INT32, BatchHeader, headers, seal
from barnabas.records.build import build_batch
from barnabas.records.compress import Codec
from barnabas.records.control import EndTransactionMarker, build_marker
from barnabas.records.walk import Record
from barnabas.sim.disk import CrashMode, SimulatedDisk

PARTITION = TopicPartition("trucks", 0)
DIRECTORY = "/data/trucks-0"


def batch(
    count: int = 1,
    *,
    value: bytes = b"value",
    key: bytes | None = None,
    timestamps: list[int] | None = None,
    base_offset: int = 0,
    leader_epoch: int = -1,
    producer: tuple[int, int, int] = (-1, -1, -1),
    transactional: bool = False,
    control: bool = False,
    codec: Codec = Codec.NONE,
    claimed_count: int | None = None,
) -> bytearray:
    times = timestamps or [1000] * count
    producer_id, producer_epoch, base_sequence = producer
    data = build_batch(
        [Record(base_offset + i, times[i], key, value) for i in range(count)],
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        codec=codec,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        transactional=transactional,
        control=control,
    )
    if claimed_count is not None:
        INT32.pack_into(data, COUNT_AT, claimed_count)
        seal(data, 0, len(data))
    return data


def marker(producer_id: int, epoch: int = 0, *, committed: bool, timestamp: int = 1000) -> bytearray:
    return build_marker(
        EndTransactionMarker(committed, 0), producer_id=producer_id, producer_epoch=epoch, timestamp=timestamp
    )


def open_test_log(
    filesystem: Filesystem,
    config: LogConfig | None = None,
    *,
    clean: bool = True,
    now_ms: int = 1000,
    recovery_point: int = 0,
    log_start_offset: int = 0,
    open_files_limit: int = 64,
) -> Log:
    opening = Opening(
        PARTITION,
        DIRECTORY,
        config or LogConfig(),
        now_ms,
        producer_settings=ProducerSettings(transaction_verification=False),
        clean=clean,
        recovery_point=recovery_point,
        log_start_offset=log_start_offset,
    )
    return open_log(OpenFiles(filesystem, open_files_limit), opening)


def append(
    log: Log,
    data: bytearray,
    *,
    leader_epoch: int = 0,
    now_ms: int = 1000,
    origin: Origin = Origin.CLIENT,
) -> int:
    done = log.append_as_leader(data, 0, len(data), leader_epoch=leader_epoch, now_ms=now_ms, origin=origin)
    return done.first_offset


def crashed(disk: SimulatedDisk) -> SimulatedDisk:
    """The process died; the machine did not."""
    disk.crash(SeededRandom(0), CrashMode.KEEP)
    return disk


def batches_in(read: Read) -> list[BatchHeader]:
    if read.slice is None:
        return []
    data = read.slice.file.read(read.slice.position, read.slice.size)
    return [header for _, header in headers(data, 0, len(data))]


def read_all(log: Log, offset: int, max_bytes: int = 1 << 20) -> list[tuple[int, int]]:
    """(first, last) of each whole batch that one read returns."""
    read = log.read(offset, max_bytes, upper_offset=log.log_end_offset)
    return [(header.base_offset, header.last_offset) for header in batches_in(read)]
