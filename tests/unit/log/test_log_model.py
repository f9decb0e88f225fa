"""Any history of appends, rolls, restarts, crashes and truncations leaves what a plain list would hold."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.unit.log.log_support import SeededRandom, append, batch, batches_in, open_test_log

from barnabas.log.config import LogConfig
from barnabas.sim.disk import CrashMode, SimulatedDisk

CONFIG = LogConfig(segment_bytes=700, index_interval_bytes=150)
PRODUCER_ID = 5


class LogMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.disk = SimulatedDisk()
        self.disk.make_directories("/data")
        self.disk.sync_directory("/")
        self.log = open_test_log(self.disk, CONFIG)
        self.batches: list[tuple[int, int, int]] = []  # first offset, last offset, timestamp
        self.flushed = 0
        self.start = 0

    @property
    def end(self) -> int:
        return max(self.batches[-1][1] + 1, self.start) if self.batches else self.start

    @initialize(first=st.integers(0, 3))
    def begin(self, first: int) -> None:
        for _ in range(first):
            self.add(1, 1000, False)

    @rule(count=st.integers(1, 5), timestamp=st.integers(900, 1100), idempotent=st.booleans())
    def add(self, count: int, timestamp: int, idempotent: bool) -> None:
        producer = (-1, -1, -1)
        if idempotent:
            entry = self.log.producers.entry(PRODUCER_ID)
            producer = (PRODUCER_ID, 0, 0 if entry is None else entry.last_sequence + 1)
        first = append(self.log, batch(count, timestamps=[timestamp] * count, producer=producer))
        assert first == self.end
        self.batches.append((first, first + count - 1, timestamp))

    @rule()
    def roll(self) -> None:
        self.log.roll(1000)

    @rule()
    def flush(self) -> None:
        unflushed = self.log.unflushed_files()
        unflushed.sync()
        self.log.mark_flushed(unflushed.offset, 1000)
        self.flushed = self.end

    @rule()
    def restart(self) -> None:
        self.log.close().sync()
        self.disk.sync_directory("/data")
        self.flushed = self.end
        self.log = open_test_log(self.disk, CONFIG, log_start_offset=self.start)

    @rule()
    def kill(self) -> None:
        self.disk.crash(SeededRandom(0), CrashMode.KEEP)
        self.reopen()

    @rule(seed=st.integers(0, 1000), mode=st.sampled_from([CrashMode.DROP, CrashMode.TEAR]))
    def lose_power(self, seed: int, mode: CrashMode) -> None:
        self.disk.crash(SeededRandom(seed), mode)
        self.reopen()
        assert self.log.log_end_offset >= self.flushed
        self.batches = [one for one in self.batches if one[1] < self.log.log_end_offset]
        assert self.log.log_end_offset == self.end

    def reopen(self) -> None:
        recovery_point = min(self.log.recovery_point, self.flushed)
        self.log = open_test_log(
            self.disk, CONFIG, clean=False, recovery_point=recovery_point, log_start_offset=self.start
        )

    @precondition(lambda self: bool(self.batches))
    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        first, _, _ = data.draw(st.sampled_from(self.batches))
        self.log.truncate_to(first, 1000)
        self.batches = [one for one in self.batches if one[0] < first]
        self.start = min(self.start, first)
        self.flushed = min(self.flushed, first)
        # Which of the new and the old bytes survive power loss is nobody's promise until the next flush.
        self.flush()

    @precondition(lambda self: bool(self.batches))
    @rule(data=st.data())
    def delete_records(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(self.start, self.end))
        self.log.update_high_watermark(self.end)
        self.log.delete_records_before(offset)
        self.start = max(self.start, offset)
        self.batches = [one for one in self.batches if one[1] >= self.start]
        self.log.delete_old_segments(1000)

    @invariant()
    def every_offset_is_found_in_its_batch(self) -> None:
        assert (self.log.log_start_offset, self.log.log_end_offset) == (self.start, self.end)
        for first, last, _ in self.batches:
            for offset in {max(first, self.start), last} if last >= self.start else ():
                found = batches_in(self.log.read(offset, 1, upper_offset=self.end))
                assert [(one.base_offset, one.last_offset) for one in found] == [(first, last)]

    def first_at_or_after(self, timestamp: int) -> int | None:
        for first, last, at in self.batches:
            if at >= timestamp and last >= self.start:
                return max(first, self.start)
        return None

    @invariant()
    def timestamps_are_found(self) -> None:
        for timestamp in (900, 1000, 1050):
            expected = self.first_at_or_after(timestamp)
            found = self.log.offset_for_timestamp(timestamp)
            assert (None if found is None else found.offset) == expected

    @invariant()
    def one_fetch_is_a_run_of_whole_batches(self) -> None:
        if self.batches and self.start < self.end:
            found = batches_in(self.log.read(self.start, 1 << 20, upper_offset=self.end))
            visible = [(first, last) for first, last, _ in self.batches if last >= self.start]
            assert [(one.base_offset, one.last_offset) for one in found] == visible[: len(found)]
            assert found


LogMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
TestAnyHistory = LogMachine.TestCase
