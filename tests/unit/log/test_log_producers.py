from __future__ import annotations

import pytest
from tests.unit.log.log_support import append, batch, crashed, marker, open_test_log

from barnabas.log.log import Log
from barnabas.log.producer_entry import Origin
from barnabas.log.results import Appended
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.sim.disk import SimulatedDisk


def produce(log: Log, sequence: int, count: int = 1, epoch: int = 0) -> Appended:
    data = batch(count, producer=(7, epoch, sequence))
    return log.append_as_leader(data, 0, len(data), leader_epoch=0, now_ms=1000)


def test_a_repeated_batch_is_answered_with_its_first_offsets_and_not_written() -> None:
    log = open_test_log(SimulatedDisk())
    for sequence in range(0, 10, 2):
        produce(log, sequence, 2)
    size = log.size
    repeated = produce(log, 2, 2)
    assert repeated.duplicate
    assert (repeated.first_offset, repeated.last_offset) == (2, 3)
    assert (log.size, log.log_end_offset) == (size, 10)


def test_a_gap_in_the_sequence_is_refused() -> None:
    log = open_test_log(SimulatedDisk())
    produce(log, 0)
    with pytest.raises(ApiError) as refused:
        produce(log, 5)
    assert refused.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.log_end_offset == 1


def test_an_old_epoch_is_fenced() -> None:
    log = open_test_log(SimulatedDisk())
    produce(log, 0, epoch=3)
    with pytest.raises(ApiError) as refused:
        produce(log, 1, epoch=2)
    assert refused.value.code is ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize("clean", [True, False])
def test_sequences_survive_a_restart(clean: bool) -> None:
    disk = SimulatedDisk()
    log = open_test_log(disk)
    produce(log, 0, 3)
    if clean:
        log.close()
    log = open_test_log(crashed(disk), clean=clean)
    assert produce(log, 0, 3).duplicate
    assert produce(log, 3).first_offset == 3


@pytest.mark.parametrize("clean", [True, False])
def test_all_five_batches_in_flight_survive_a_restart_also_across_segments(clean: bool) -> None:
    disk = SimulatedDisk()
    log = open_test_log(disk)
    for sequence in range(6):
        if sequence == 3:
            log.roll(1000)
        produce(log, sequence)
    if clean:
        log.close()
    log = open_test_log(crashed(disk), clean=clean)
    assert [produce(log, sequence).first_offset for sequence in range(1, 6)] == [1, 2, 3, 4, 5]
    assert log.log_end_offset == 6


def test_sequences_survive_the_loss_of_every_snapshot() -> None:
    disk = SimulatedDisk()
    log = open_test_log(disk)
    produce(log, 0, 3)
    log.roll(1000)
    produce(log, 3)
    log.close()
    for name in disk.list("/data/trucks-0"):
        if name.endswith(".snapshot"):
            file = disk.open(f"/data/trucks-0/{name}")
            file.truncate(0)
            file.append([b"garbage"])
    log = open_test_log(disk)
    assert produce(log, 3).duplicate
    assert produce(log, 4).first_offset == 4


def transactional(log: Log, producer_id: int, sequence: int = 0) -> int:
    return append(log, batch(1, producer=(producer_id, 0, sequence), transactional=True))


def end(log: Log, producer_id: int, *, committed: bool) -> int:
    return append(log, marker(producer_id, committed=committed), origin=Origin.COORDINATOR)


def test_readers_of_committed_records_stop_before_an_open_transaction() -> None:
    log = open_test_log(SimulatedDisk())
    append(log, batch(2))
    transactional(log, 1)
    append(log, batch(2))
    log.update_high_watermark(log.log_end_offset)
    assert (log.last_stable_offset, log.high_watermark) == (2, 5)
    end(log, 1, committed=True)
    log.update_high_watermark(log.log_end_offset)
    assert log.last_stable_offset == 6


def test_decided_transactions_are_forgotten_though_nobody_reads() -> None:
    log = open_test_log(SimulatedDisk())
    for sequence in range(20):
        transactional(log, 1, sequence)
        end(log, 1, committed=True)
        log.high_watermark = log.log_end_offset
    assert len(log.producers.transactions) == 1  # the last, until somebody asks or another ends
    assert log.last_stable_offset == log.log_end_offset
    assert len(log.producers.transactions) == 0


def test_transactions_that_ended_above_the_high_watermark_hold_readers_back() -> None:
    log = open_test_log(SimulatedDisk())
    for producer_id in (1, 2, 3):
        transactional(log, producer_id)
    for producer_id in (3, 1, 2):
        end(log, producer_id, committed=True)
    # Offsets 0, 1, 2 are records of 1, 2, 3; offsets 3, 4, 5 end 3, 1, 2.
    assert [_stable_at(log, offset) for offset in range(7)] == [0, 0, 0, 0, 0, 1, 6]


def _stable_at(log: Log, high_watermark: int) -> int:
    log.high_watermark = high_watermark
    return log.last_stable_offset


def test_aborted_transactions_in_range_are_named_also_after_a_crash() -> None:
    disk = SimulatedDisk()
    log = open_test_log(disk)
    for producer_id, committed in ((1, False), (2, True), (3, False)):
        transactional(log, producer_id)
        end(log, producer_id, committed=committed)
    for _ in ("at first", "after a crash"):
        everything = log.read(0, 1 << 20, upper_offset=6)
        aborted = log.aborted_transactions(everything, 6)
        assert [(one.producer_id, one.first_offset, one.last_offset) for one in aborted] == [
            (1, 0, 1),
            (3, 4, 5),
        ]
        later = log.read(2, 1 << 20, upper_offset=6)
        assert [one.producer_id for one in log.aborted_transactions(later, 6)] == [3]
        log = open_test_log(crashed(disk), clean=False)
