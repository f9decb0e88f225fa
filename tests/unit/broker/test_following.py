"""A partition that follows: it takes what its leader sends, and cuts what its leader does not have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.support.batches import Batch
from tests.support.node import NOW_MS, frame
from tests.support.replicated import TOPIC, Trio

from barnabas.broker.replication.following import CutLaterError
from barnabas.log.log import Log
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.image import PartitionChanged, PartitionImage, TopicCreated, TopicDeleted, TopicImage
from barnabas.protocol import codec
from barnabas.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

FOLLOWER = PartitionImage(0, (1, 2, 3), (1, 2, 3), leader=2, leader_epoch=5, partition_epoch=10)


class Held:
    """Workers that finish when they are told to."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Callable[[], object], Callable[[object, BaseException | None], None]]] = []

    def submit(
        self, work: Callable[[], object], done: Callable[[object, BaseException | None], None]
    ) -> None:
        self.waiting.append((work, done))

    def finish(self) -> None:
        work, done = self.waiting.pop(0)
        done(work(), None)


def receive(trio: Trio, offset: int, count: int, epoch: int = 5) -> None:
    batch = bytearray(Batch([b"v"] * count, timestamp_ms=NOW_MS).encode())
    batch[0:8] = offset.to_bytes(8, "big")
    batch[12:16] = epoch.to_bytes(4, "big")
    trio.partition.append_as_follower(batch, 0, len(batch))


def log_of(trio: Trio) -> Log:
    assert trio.partition.log is not None
    return trio.partition.log


def test_a_follower_reads_on_behind_what_it_has() -> None:
    trio = Trio(FOLLOWER)
    assert trio.partition.fetch_position == (0, -1)
    receive(trio, 0, 3, epoch=4)
    receive(trio, 3, 2, epoch=5)
    assert trio.partition.fetch_position == (5, 5)


def test_a_follower_commits_what_its_leader_has_committed_and_it_has_itself() -> None:
    trio = Trio(FOLLOWER)
    receive(trio, 0, 5)
    assert trio.high_watermark == 0
    trio.partition.heard_from_leader(9, 0)
    assert trio.high_watermark == 5
    trio.partition.heard_from_leader(3, 0)  # a new leader, which knows less
    assert trio.high_watermark == 5


def test_a_follower_drops_what_its_leader_has_dropped() -> None:
    trio = Trio(FOLLOWER)
    receive(trio, 0, 5)
    trio.partition.heard_from_leader(3, 4)
    assert log_of(trio).log_start_offset == 3
    trio.partition.heard_from_leader(5, 4)
    assert log_of(trio).log_start_offset == 4


def test_a_follower_cuts_what_its_leader_does_not_have() -> None:
    trio = Trio(FOLLOWER)
    receive(trio, 0, 3, epoch=3)
    receive(trio, 3, 1, epoch=3)
    receive(trio, 4, 4, epoch=4)
    trio.partition.heard_from_leader(2, 0)
    trio.partition.diverged(3, 3)
    assert trio.partition.fetch_position == (3, 3)
    assert trio.high_watermark == 2


def test_what_a_checkpoint_vouches_for_is_cut_when_that_is_taken_back() -> None:
    """After a crash nobody looks at what lies below the point: it must not hold what was to be replaced."""
    trio = Trio(FOLLOWER)
    receive(trio, 0, 3, epoch=3)
    receive(trio, 3, 4, epoch=4)
    place, logs = log_of(trio).topic_partition, trio.node.logs
    directory = logs.directory_of(place)
    assert directory is not None
    directory.points_on_disk[place] = 7
    with pytest.raises(CutLaterError):
        trio.partition.diverged(3, 3)
    assert trio.partition.fetch_position == (7, 4)
    assert directory.points_on_disk[place] == 3
    trio.partition.diverged(3, 3)
    assert trio.partition.fetch_position == (3, 3)


def test_an_epoch_without_records_is_forgotten() -> None:
    trio = Trio()  # it leads, in epoch 5, and writes nothing
    trio.change(leader=2)
    assert trio.partition.fetch_position == (0, 5)
    trio.partition.diverged(4, 0)
    assert trio.partition.fetch_position == (0, -1)


def test_a_follower_starts_over_where_its_leader_begins() -> None:
    trio = Trio(FOLLOWER)
    receive(trio, 0, 5)
    trio.partition.heard_from_leader(5, 0)
    trio.partition.start_over_at(40)
    assert trio.partition.fetch_position == (40, -1)
    assert (trio.high_watermark, log_of(trio).log_start_offset) == (40, 40)
    receive(trio, 40, 1)
    assert trio.partition.fetch_position == (41, 5)


def test_a_follower_says_that_records_are_safe_when_its_disk_has_them() -> None:
    trio = Trio(FOLLOWER, configs={"flush.messages": "1"})
    workers = Held()
    trio.node.workers = workers
    moves: list[object] = []

    class Watcher:
        def moved(self, partition: object) -> None:
            moves.append(partition)

    trio.partition.waiting[Watcher()] = None
    receive(trio, 0, 5)
    assert trio.partition.fetch_position is None
    assert moves == []
    workers.finish()
    assert trio.partition.fetch_position == (5, 5)
    assert moves == [trio.partition]
    assert trio.high_watermark == 0


def test_a_leader_commits_what_its_own_disk_has() -> None:
    trio = Trio(configs={"flush.messages": "1"})
    workers = Held()
    trio.node.workers = workers
    produced = trio.produce()
    for each in (2, 3):
        trio.fetch(each, 1)
    assert trio.high_watermark == 0
    assert produced.data is None
    workers.finish()
    assert trio.high_watermark == 1
    assert produced.data is not None


def test_followers_need_not_wait_for_their_leaders_disk() -> None:
    trio = Trio(configs={"flush.messages": "1"})
    trio.node.workers = Held()
    parked = trio.fetch(2, 0, max_wait_ms=1000)
    trio.produce()
    assert parked.data is not None


def test_what_was_cut_owes_nothing_to_the_disk() -> None:
    trio = Trio(FOLLOWER, configs={"flush.messages": "1"})
    workers = Held()
    trio.node.workers = workers
    receive(trio, 0, 5)
    trio.partition.cut_at(0)
    assert trio.partition.fetch_position is None  # what was cut could come back under what comes next
    while workers.waiting:
        workers.finish()
    assert trio.partition.fetch_position == (0, -1)
    receive(trio, 0, 2)
    assert trio.partition.fetch_position is None
    while workers.waiting:
        workers.finish()
    assert trio.partition.fetch_position == (2, 5)


def test_a_leader_takes_records_from_nobody() -> None:
    trio = Trio()
    acts: list[Callable[[], None]] = [
        lambda: receive(trio, 0, 1),
        lambda: trio.partition.heard_from_leader(1, 0),
        lambda: trio.partition.cut_at(0),
        lambda: trio.partition.start_over_at(1),
    ]
    for act in acts:
        with pytest.raises(ApiError) as refused:
            act()
        assert refused.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_an_older_image_changes_nothing() -> None:
    trio = Trio()
    old = trio.image
    trio.change(leader=2)
    trio.install(PartitionChanged(TOPIC, old))
    assert not trio.partition.is_leader


def test_a_topic_of_the_same_name_begins_with_an_empty_log() -> None:
    trio = Trio()
    trio.append(5)
    before = trio.partition
    topic = trio.node.image.topics[TOPIC]
    again = TopicImage(TOPIC, bytes(16), (replace(trio.image, leader_epoch=0, partition_epoch=0),))
    trio.install(TopicDeleted(TOPIC, topic.id), TopicCreated(again))
    assert trio.partition is not before
    assert (before.log, log_of(trio).log_end_offset) == (None, 0)


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_copy_of_what_is_no_longer_ours_is_deleted_when_we_return(is_ours: bool) -> None:
    """The topic was deleted and made again, or moved away, while this broker was not there."""
    trio = Trio()
    place = TopicPartition("other", 0)
    config = trio.node.log_config("other")
    left = trio.node.logs.create(place, b"1" * 16, config, NOW_MS)
    replicas = (1, 2) if is_ours else (2, 3)
    image = PartitionImage(0, replicas, replicas, leader=2)
    trio.install(TopicCreated(TopicImage("other", b"2" * 16, (image,))))
    held = trio.node.replicas.find("other", 0)
    assert not left.is_open
    assert (held is not None) is is_ours
    assert held is None or (held.log is not None and held.log.topic_id == b"2" * 16)
    assert (place in trio.node.logs.logs) is is_ours


@pytest.mark.parametrize(
    ("epoch", "code"),
    [
        (-1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (4, ErrorCode.FENCED_LEADER_EPOCH),
        (5, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (6, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_who_knows_of_another_epoch_hears_that_before_who_leads(epoch: int, code: ErrorCode) -> None:
    trio = Trio(FOLLOWER)
    with pytest.raises(ApiError) as refused:
        trio.partition.leader_log(epoch)
    assert refused.value.code is code
    row = OffsetForLeaderPartition(0, epoch, 5)
    request = OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(TOPIC, [row])])
    session, _ = trio.session()
    reply = trio.ask(session, frame(request.API_KEY, 4, request))
    assert reply is not None
    _, answer = codec.read_response(request.API_KEY, 4, memoryview(reply)[4:])
    assert isinstance(answer, OffsetForLeaderEpochResponse)
    assert answer.topics[0].partitions[0].error_code == code
