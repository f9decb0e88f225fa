"""A shard's outcome goes through the log: appended, replayed, answered once committed, and found again."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from tests.support.coordination import FakeTicket

from barnabas.broker.coordinators.coordinator_host import CoordinatorHost
from barnabas.broker.coordinators.hosted_shard import HostedShard
from barnabas.broker.coordinators.internal_topics import OFFSETS_TOPIC
from barnabas.coordination.hashing import java_hash, partition_of
from barnabas.coordination.outcome import Entry, Outcome, Producer
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import ClusterImage
from barnabas.protocol.internal.groups import OffsetCommitKey, OffsetCommitValue
from barnabas.records.batch import HEADER_SIZE
from barnabas.sim.host import Host
from barnabas.sim.world import World


class Notes:
    """A shard that remembers one number per name."""

    def __init__(self, host: HostedShard[Notes]) -> None:
        self.host = host
        self.numbers: dict[str, int] = {}
        self.pending: dict[int, dict[str, int]] = {}
        self.was_loaded = False
        self.was_unloaded = False

    def replay(self, entry: Entry, offset: int, producer: Producer | None) -> None:
        assert isinstance(entry.key, OffsetCommitKey)
        target = self.numbers if producer is None else self.pending.setdefault(producer.id, {})
        if isinstance(entry.value, OffsetCommitValue):
            target[entry.key.topic] = entry.value.offset
        else:
            target.pop(entry.key.topic, None)

    def end_transaction(self, producer: Producer, committed: bool) -> None:
        pending = self.pending.pop(producer.id, {})
        if committed:
            self.numbers.update(pending)

    def loaded(self) -> Iterable[Outcome]:
        self.was_loaded = True
        return ()

    def unloaded(self) -> None:
        self.was_unloaded = True

    def image_changed(self, old: ClusterImage) -> Iterable[Outcome]:
        return ()


def note(name: str, number: int, ticket: FakeTicket, metadata: str = "") -> Outcome:
    entry = Entry(OffsetCommitKey("g", name, 0), OffsetCommitValue(number, -1, metadata, 0))
    return Outcome([entry], [(ticket, number)])


class Desk:
    """One simulated broker whose offsets topic is kept by `Notes`."""

    def __init__(self, properties: dict[str, str] | None = None) -> None:
        self.world = World(7)
        settings = {"log.dirs": "/d", "offsets.topic.num.partitions": "3", **(properties or {})}
        self.host = Host(self.world, settings, 7)
        self.start()
        life = self.host.life
        assert life is not None
        done: list[bool] = []
        life.enter(lambda: life.node.internal_topics.create(OFFSETS_TOPIC, lambda: done.append(True)))
        self.settle()
        assert done

    def start(self) -> None:
        self.host.start()
        assert self.host.life is not None
        self.node = self.host.life.node
        self.notes = CoordinatorHost(self.node, OFFSETS_TOPIC, Notes)
        self.node.coordinators = (self.notes,)
        self.world.run_until(lambda: self.host.serving, self.world.now_ms + 60_000)
        self.settle()

    def restart(self) -> None:
        self.host.kill()
        self.start()

    def settle(self, duration_ms: int = 1_000) -> None:
        self.world.run_until(lambda: False, self.world.now_ms + duration_ms)

    def note(self, name: str, number: int, metadata: str = "") -> FakeTicket:
        ticket = FakeTicket()
        self.node.set_time(self.world.now_ms, self.world.wall_ms)
        self.notes.run("g", ticket, lambda _: note(name, number, ticket, metadata))
        return ticket

    @property
    def shard(self) -> Notes:
        return self.notes.hosted("g").shard


def test_an_outcome_is_replayed_and_answered() -> None:
    desk = Desk()
    assert desk.note("a", 5).response == 5
    assert desk.shard.numbers == {"a": 5}


def test_a_restart_is_a_replay() -> None:
    desk = Desk()
    for number in range(2_000):  # several pieces
        desk.note(f"name-{number % 700}", number, "m" * 40)
    before = desk.shard.numbers
    desk.restart()
    assert desk.shard.was_loaded
    assert desk.shard.numbers == before


def test_who_asks_too_early_may_ask_again() -> None:
    desk = Desk()
    desk.note("a", 1)
    desk.host.kill()
    desk.host.slowness.most_ms = 500
    desk.host.start()
    assert desk.host.life is not None
    node = desk.host.life.node
    notes = CoordinatorHost(node, OFFSETS_TOPIC, Notes)
    node.coordinators = (notes,)
    desk.world.run_until(lambda: desk.host.serving, desk.world.now_ms + 60_000)
    with pytest.raises(ApiError) as raised:
        notes.hosted("g")
    assert raised.value.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert notes.is_loading
    desk.settle(5_000)
    assert notes.hosted("g").shard.numbers == {"a": 1}


def test_an_answer_waits_until_its_record_is_on_the_disk_where_that_was_asked_for() -> None:
    desk = Desk({"log.flush.interval.messages": "1"})
    first = desk.note("a", 5)
    read = FakeTicket()
    desk.notes.run("g", read, lambda shard: Outcome(answers=[(read, shard.numbers["a"])]))
    assert not first.done
    assert not read.done, "a reader must not see what a crash could undo"
    desk.settle()
    assert (first.response, read.response) == (5, 5)


def test_clients_do_not_wait_forever_for_a_slow_disk() -> None:
    desk = Desk({"log.flush.interval.messages": "1"})
    desk.host.slowness.most_ms = 60_000
    ticket = desk.note("a", 5)
    desk.settle(120_000)
    assert ticket.done
    assert desk.shard.numbers == {"a": 5}


def test_what_is_too_large_is_refused_and_changes_nothing() -> None:
    desk = Desk({"message.max.bytes": "2000"})
    ticket = desk.note("a", 5, "m" * 5_000)
    assert ticket.code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert desk.shard.numbers == {}
    assert desk.note("a", 6).response == 6


def test_what_is_due_and_cannot_be_written_is_tried_again() -> None:
    desk = Desk({"message.max.bytes": "2000"})
    sizes = [5_000, 5_000, 10]

    def due() -> Outcome:
        outcome = note("a", 5, FakeTicket(), "m" * sizes.pop(0))
        return Outcome(outcome.entries)

    desk.shard.host.timers.schedule("due", 10, due)
    desk.settle(5_000)
    assert desk.shard.numbers == {"a": 5}
    assert not sizes


def test_what_is_due_and_was_written_is_not_done_again() -> None:
    desk = Desk()
    tickets = [FakeTicket(), FakeTicket()]
    desk.shard.host.timers.schedule("due", 10, lambda: note("a", 5, tickets.pop()))
    desk.settle(5_000)
    assert len(tickets) == 1


def test_a_failed_disk_ends_the_office() -> None:
    desk = Desk()
    shard = desk.shard
    desk.host.fail_directory("/d/__consumer_offsets-" + str(partition_of("g", 3)))
    assert desk.note("a", 5).code == ErrorCode.NOT_COORDINATOR
    desk.settle()
    assert shard.was_unloaded


def test_nobody_waits_for_a_coordinator_that_cannot_read_its_log() -> None:
    """Not even those who ask for every group."""
    desk = Desk()
    desk.note("a", 1)
    desk.note("b", 2)
    desk.host.stop_orderly()
    desk.settle()
    path = f"/d/__consumer_offsets-{partition_of('g', 3)}/{0:020}.log"
    # The first record is longer than anything can be.
    desk.host.disk.open(path).write_at(HEADER_SIZE, b"\xff" * 6)
    desk.start()
    assert desk.note("a", 3).code == ErrorCode.NOT_COORDINATOR
    assert not desk.notes.is_loading


def test_a_transactions_records_count_when_its_marker_stands() -> None:
    desk = Desk()
    ticket = FakeTicket()
    producer = Producer(9, 0)

    def write(_: Notes) -> Outcome:
        outcome = note("a", 5, ticket)
        outcome.producer = producer
        return outcome

    hosted = desk.notes.hosted("g")
    log = hosted.partition.log
    assert log is not None
    guard = log.producers.verifications.begin(9, 0, 0, now_ms=desk.node.now_ms, supports_epoch_bump=False)
    desk.notes.run("g", ticket, write, guard)
    assert ticket.response == 5
    assert hosted.shard.numbers == {}
    desk.notes.marker_appended(hosted.partition.index, producer, True)
    assert hosted.shard.numbers == {"a": 5}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 97), ("group", 98629247), ("𝄞", 1772394), ("polygenelubricants", -(1 << 31))],
)
def test_names_hash_as_in_java(text: str, expected: int) -> None:
    assert java_hash(text) == expected
    assert 0 <= partition_of(text, 50) < 50
