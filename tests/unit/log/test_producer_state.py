from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.log.producer_entry import ACCEPTED, SEQUENCE_MAX, Accepted, Duplicate, Origin, advance
from barnabas.log.producer_state import LastRecord, ProducerSettings, ProducerStates
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.sim.disk import SimulatedDisk

UNVERIFIED = ProducerSettings(transaction_verification=False)
PID = 7


def new_disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directories("/p")
    return disk


class Partition:
    """Appends like a log: checks, takes the next offsets, updates."""

    def __init__(self, disk: SimulatedDisk | None = None, settings: ProducerSettings = UNVERIFIED) -> None:
        self.states = ProducerStates(disk or new_disk(), "/p", "t-0", settings)
        self.next_offset = 0

    def append(
        self,
        first: int,
        count: int = 1,
        *,
        epoch: int = 0,
        producer_id: int = PID,
        transactional: bool = False,
        origin: Origin = Origin.CLIENT,
    ) -> Accepted | Duplicate:
        last = advance(first, count - 1)
        verdict = self.states.check(
            producer_id,
            epoch,
            first,
            last,
            offset=self.next_offset,
            transactional=transactional,
            origin=origin,
        )
        if isinstance(verdict, Accepted):
            end = self.next_offset + count
            self.states.update(
                producer_id, epoch, last, self.next_offset, end - 1, 1000 + end, transactional=transactional
            )
            self.next_offset = self.states.end_offset = end
        return verdict

    def refuses(self, code: ErrorCode, first: int, count: int = 1, *, epoch: int = 0, **more: bool) -> bool:
        with pytest.raises(ApiError) as refused:
            self.append(first, count, epoch=epoch, **more)  # type: ignore[arg-type]
        return refused.value.code is code

    def end(self, *, producer_id: int = PID, epoch: int = 0, aborted: bool = False) -> int | None:
        """Write a marker; the last stable offset it leaves, or None for an empty transaction."""
        offset = self.next_offset
        self.next_offset = self.states.end_offset = offset + 1
        completed = self.states.update_marker(producer_id, epoch, 0, offset, 1000, aborted=aborted)
        if completed is None:
            return None
        self.states.complete(completed)
        return completed.last_stable_offset


OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequences_follow_each_other_and_a_gap_is_refused() -> None:
    partition = Partition()
    assert partition.append(0, 3) is ACCEPTED
    assert partition.append(3, 2) is ACCEPTED
    assert partition.refuses(OUT_OF_ORDER, 6)
    assert partition.refuses(OUT_OF_ORDER, 4)
    assert partition.append(5) is ACCEPTED


def test_the_refusal_names_the_numbers_as_kafka_does() -> None:
    partition = Partition()
    partition.append(0, 3)
    with pytest.raises(ApiError) as refused:
        partition.append(9)
    assert refused.value.message == (
        "Out of order sequence number for producer 7 at offset 3 in partition t-0: 9 (incoming seq. number), "
        "2 (current end sequence number)"
    )


def test_a_repeat_of_any_of_the_last_five_batches_is_answered_with_its_first_offsets() -> None:
    partition = Partition()
    for batch in range(6):
        partition.append(batch * 2, 2)
    for batch in range(1, 6):
        assert partition.append(batch * 2, 2) == Duplicate(batch * 2, batch * 2 + 1, 1000 + batch * 2 + 2)
    assert partition.refuses(OUT_OF_ORDER, 0, 2)  # the sixth last is forgotten


def test_a_repeat_with_another_length_is_no_repeat() -> None:
    partition = Partition()
    partition.append(0, 2)
    assert partition.refuses(OUT_OF_ORDER, 0, 1)


def test_an_unknown_producer_may_begin_anywhere() -> None:
    assert Partition().append(41) is ACCEPTED


def test_a_new_epoch_begins_at_zero_and_fences_the_old_one() -> None:
    partition = Partition()
    partition.append(0, 4, epoch=1)
    assert partition.refuses(OUT_OF_ORDER, 4, epoch=2)
    assert partition.append(0, epoch=2) is ACCEPTED
    assert partition.refuses(ErrorCode.INVALID_PRODUCER_EPOCH, 4, epoch=1)


def test_sequences_begin_again_after_the_largest() -> None:
    partition = Partition()
    partition.append(SEQUENCE_MAX - 1, 2)
    assert partition.append(0) is ACCEPTED
    other = Partition()
    other.append(SEQUENCE_MAX, 3)  # 2^31 - 1, 0, 1
    assert other.append(SEQUENCE_MAX, 3) == Duplicate(0, 2, 1003)
    assert other.append(2) is ACCEPTED


def test_coordinators_are_asked_for_the_epoch_only_and_replication_for_nothing() -> None:
    partition = Partition()
    partition.append(0, epoch=3)
    assert partition.append(99, epoch=3, origin=Origin.COORDINATOR) is ACCEPTED
    with pytest.raises(ApiError):
        partition.append(0, epoch=2, origin=Origin.COORDINATOR)
    assert partition.append(50, epoch=2, origin=Origin.REPLICATION) is ACCEPTED


def test_an_open_transaction_holds_the_last_stable_offset_until_its_marker_is_replicated() -> None:
    partition = Partition()
    partition.append(0, 2, transactional=True)
    partition.append(0, 1, producer_id=8, transactional=True)
    assert partition.states.first_unstable_offset == 0
    assert partition.end() == 2  # producer 8 is still open at 2
    assert partition.states.first_unstable_offset == 0
    partition.states.on_high_watermark(4)
    assert partition.states.first_unstable_offset == 2
    assert partition.end(producer_id=8) == 5
    partition.states.on_high_watermark(4)
    assert partition.states.first_unstable_offset == 2
    partition.states.on_high_watermark(5)
    assert partition.states.first_unstable_offset is None


def test_a_marker_of_an_empty_transaction_changes_nothing() -> None:
    partition = Partition()
    assert partition.end() is None
    assert partition.states.first_unstable_offset is None


def test_a_plain_write_inside_a_transaction_is_refused() -> None:
    partition = Partition()
    partition.append(0, transactional=True)
    assert partition.refuses(ErrorCode.INVALID_TXN_STATE, 1)
    assert partition.append(1, transactional=True) is ACCEPTED


def test_after_a_marker_with_a_new_epoch_the_producer_begins_at_zero() -> None:
    partition = Partition()
    partition.append(0, 5, transactional=True)
    partition.end(epoch=1)
    assert partition.refuses(OUT_OF_ORDER, 5, epoch=1, transactional=True)
    assert partition.append(0, epoch=1, transactional=True) is ACCEPTED


@pytest.mark.parametrize(
    ("epoch", "version", "open_transaction", "refused"),
    [
        (4, 1, True, True),
        (5, 1, True, False),
        (5, 2, True, True),  # version 2: a marker raises the epoch
        (5, 2, False, False),  # the same marker again
        (6, 2, True, False),
        (4, 2, False, True),
    ],
)
def test_a_late_marker_is_fenced_as_its_transaction_version_says(
    epoch: int, version: int, open_transaction: bool, refused: bool
) -> None:
    partition = Partition()
    partition.append(0, epoch=5, transactional=open_transaction)

    def ask() -> None:
        partition.states.check_marker(PID, epoch, 0, offset=1, transaction_version=version)

    if refused:
        with pytest.raises(ApiError) as error:
            ask()
        assert error.value.code is ErrorCode.INVALID_PRODUCER_EPOCH
    else:
        ask()


def test_a_marker_from_a_former_coordinator_is_fenced() -> None:
    partition = Partition()
    partition.states.update_marker(PID, 0, 9, 0, 1000, aborted=False)
    with pytest.raises(ApiError) as error:
        partition.states.check_marker(PID, 0, 8, offset=1, transaction_version=1)
    assert error.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED
    partition.states.check_marker(PID, 0, 8, offset=1, transaction_version=1, origin=Origin.REPLICATION)


def test_the_first_batch_of_a_transaction_needs_its_own_confirmation() -> None:
    states = ProducerStates(new_disk(), "/p", "t-0")
    stale = states.verifications.begin(PID, 0, 0, now_ms=0, supports_epoch_bump=False)
    states.update_marker(PID, 0, 0, 0, 1000, aborted=True)  # the transaction ended meanwhile

    def ask(guard: object) -> object:
        return states.check(PID, 0, 0, 0, offset=1, transactional=True, guard=guard)  # type: ignore[arg-type]

    for wrong in (stale, None):
        with pytest.raises(ApiError) as error:
            ask(wrong)
        assert error.value.code is ErrorCode.INVALID_TXN_STATE
    guard = states.verifications.begin(PID, 0, 0, now_ms=0, supports_epoch_bump=False)
    assert ask(guard) is ACCEPTED
    states.update(PID, 0, 0, 1, 1, 1000, transactional=True)
    assert states.check(PID, 0, 1, 1, offset=2, transactional=True) is ACCEPTED


def test_a_higher_sequence_does_not_pass_one_that_waits_for_confirmation() -> None:
    states = ProducerStates(new_disk(), "/p", "t-0")
    guard = states.verifications.begin(PID, 3, 0, now_ms=0, supports_epoch_bump=False)
    with pytest.raises(ApiError) as error:
        states.check(PID, 0, 4, 4, offset=0, transactional=True, guard=guard)
    assert error.value.code is OUT_OF_ORDER
    assert states.check(PID, 0, 3, 3, offset=0, transactional=True, guard=guard) is ACCEPTED
    states.verifications.end(PID)
    bumping = states.verifications.begin(PID, 3, 0, now_ms=0, supports_epoch_bump=True)
    with pytest.raises(ApiError, match="Expected sequence 0"):
        states.check(PID, 0, 3, 3, offset=0, transactional=True, guard=bumping)


def test_idle_producers_are_forgotten_unless_a_transaction_is_open() -> None:
    partition = Partition(settings=ProducerSettings(producer_id_expiration_ms=500))
    partition.append(0)
    partition.states.settings = UNVERIFIED
    partition.append(0, producer_id=8, transactional=True)
    partition.states.settings = ProducerSettings(producer_id_expiration_ms=500)
    partition.states.remove_expired(now_ms=1500)
    assert len(partition.states) == 2
    partition.states.remove_expired(now_ms=1501)
    assert [entry.producer_id for entry in partition.states.entries()] == [8]
    assert partition.append(77) is ACCEPTED


def test_a_hanging_transaction_is_noticed() -> None:
    partition = Partition()
    partition.append(0, transactional=True)  # at 1001
    assert not partition.states.has_late_transaction(1001 + 900_000 + 300_000)
    assert partition.states.has_late_transaction(1001 + 900_000 + 300_001)


def test_compaction_learns_the_last_batch_or_the_epoch_of_every_producer() -> None:
    partition = Partition()
    partition.append(0, 3, epoch=2)
    partition.end(producer_id=9, epoch=4)
    assert partition.states.last_records() == {PID: LastRecord(2, 2), 9: LastRecord(None, 4)}


# --- against a model -------------------------------------------------------------------------------------


@dataclass
class Model:
    """The rules once more, by brute force over everything ever accepted."""

    epoch: int = -1
    batches: list[tuple[int, int, int]] = field(default_factory=list)  # first, count, offset
    offset: int = 0

    def offer(self, epoch: int, first: int, count: int) -> str | tuple[int, int]:
        if epoch == self.epoch:
            for known_first, known_count, offset in self.batches[-5:]:
                if (known_first, known_count) == (first, count):
                    return offset, offset + count - 1
        if epoch < self.epoch:
            return "INVALID_PRODUCER_EPOCH"
        if self.epoch != -1:
            fresh = epoch != self.epoch or not self.batches
            expected = 0 if fresh else (self.batches[-1][0] + self.batches[-1][1]) % 2**31
            if first != expected:
                return "OUT_OF_ORDER_SEQUENCE_NUMBER"
        if epoch != self.epoch:
            self.epoch, self.batches = epoch, []
        self.batches.append((first, count, self.offset))
        self.offset += count
        return "accepted"


def answer(partition: Partition, epoch: int, first: int, count: int) -> str | tuple[int, int]:
    try:
        verdict = partition.append(first, count, epoch=epoch)
    except ApiError as refused:
        return refused.code.name
    return "accepted" if isinstance(verdict, Accepted) else (verdict.first_offset, verdict.last_offset)


_offers = st.lists(st.tuples(st.integers(0, 2), st.integers(-9, 1), st.integers(1, 3)), max_size=40)


@given(_offers, st.sampled_from([0, SEQUENCE_MAX - 2]), st.integers(0, 40))
@settings(max_examples=300)
def test_the_window_agrees_with_a_model_across_restarts(
    offers: list[tuple[int, int, int]], start: int, restart_at: int
) -> None:
    disk = new_disk()
    partition, model = Partition(disk), Model()
    for step, (epoch, back, count) in enumerate(offers):
        if step == restart_at:
            partition.states.take_snapshot()
            partition.states = ProducerStates(disk, "/p", "t-0", UNVERIFIED)
            partition.states.truncate_and_reload(0, partition.next_offset, 2000)
            # A snapshot holds the last batch of each producer only, as Kafka's does.
            model.batches = model.batches[-1:]
        if model.batches:
            last_first, last_count, _ = model.batches[-1]
            first = (last_first + last_count + (0 if back > -2 else back + 2)) % 2**31
        else:
            first = start
        expected = model.offer(epoch, first, count)
        assert answer(partition, epoch, first, count) == expected
