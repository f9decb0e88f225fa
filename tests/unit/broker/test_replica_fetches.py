"""What a leader answers to its followers, and followers to consumers."""

from __future__ import annotations

import pytest
from tests.support.batches import Batch
from tests.support.node import NOW_MS, General, frame
from tests.support.replicated import EPOCHS, TOPIC, Fetched, Trio

from barnabas.model.errors import ErrorCode
from barnabas.model.image import (
    ConfigChanged,
    ConfigKind,
    ConfigResource,
    PartitionImage,
    TopicCreated,
    TopicDeleted,
    TopicImage,
)
from barnabas.protocol import codec
from barnabas.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from barnabas.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ReplicaState,
)
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

FOLLOWER = PartitionImage(0, (1, 2, 3), (1, 2, 3), leader=2, leader_epoch=5, partition_epoch=10)
CONSUMER = -1


def answered(fetched: Fetched) -> PartitionData:
    data = fetched.data
    assert data is not None
    return data


def size(data: PartitionData) -> int:
    return len(data.records or b"")


# --- followers ---------------------------------------------------------------------------------------------


def test_a_follower_reads_what_is_not_committed_and_a_consumer_does_not() -> None:
    trio = Trio()
    trio.append(10)
    assert size(answered(trio.fetch(2, 0))) > 0
    assert size(answered(trio.fetch(CONSUMER, 0))) == 0


def test_a_followers_fetch_is_answered_with_the_high_watermark_that_it_made() -> None:
    trio = Trio(PartitionImage(0, (1, 2), (1, 2), leader=1, leader_epoch=5))
    trio.append(10)
    assert answered(trio.fetch(2, 10)).high_watermark == 10


@pytest.mark.parametrize(
    ("epoch", "code"),
    [(4, ErrorCode.FENCED_LEADER_EPOCH), (6, ErrorCode.UNKNOWN_LEADER_EPOCH), (5, ErrorCode.NONE)],
)
def test_a_follower_of_another_epoch_is_refused(epoch: int, code: ErrorCode) -> None:
    assert answered(Trio().fetch(2, 0, epoch=epoch)).error_code == code


def test_a_refused_fetch_moves_nothing() -> None:
    trio = Trio()
    trio.append(10)
    trio.fetch(2, 10)
    for wrong in (4, 6):
        trio.fetch(3, 10, epoch=wrong)
    trio.fetch(3, 11)
    assert trio.high_watermark == 0


def test_a_fetch_without_an_epoch_proves_nothing() -> None:
    trio = Trio()
    trio.append(10)
    trio.fetch(2, 10)
    assert answered(trio.fetch(3, 10, epoch=-1)).error_code == 0
    assert trio.high_watermark == 0


def test_who_is_no_replica_is_refused() -> None:
    trio = Trio()
    assert answered(trio.fetch(4, 0)).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert answered(trio.fetch(4, 0, epoch=-1)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_an_earlier_life_of_a_follower_is_refused() -> None:
    trio = Trio()
    trio.fetch(2, 0)
    assert answered(trio.fetch(2, 0, broker_epoch=199)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_follower_asks_the_leader_alone_and_hears_who_that_is() -> None:
    data = answered(Trio(FOLLOWER).fetch(3, 0))
    assert data.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert data.current_leader is not None
    assert (data.current_leader.leader_id, data.current_leader.leader_epoch) == (2, 5)


def test_beyond_the_log_lies_nothing() -> None:
    trio = Trio()
    trio.append(10)
    assert answered(trio.fetch(2, 11)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_follower_with_records_of_a_lost_epoch_hears_where_to_cut() -> None:
    trio = Trio()
    trio.append(10)
    trio.change(leader=1, leader_epoch=8)
    trio.append(5)
    data = answered(trio.fetch(2, 14, last_epoch=7))
    assert data.diverging_epoch is not None
    assert (data.diverging_epoch.epoch, data.diverging_epoch.end_offset) == (5, 10)
    assert size(data) == 0
    assert trio.partition.leading is not None
    assert trio.partition.leading.followers[2].log_end_offset == -1  # it has none of what it says


# --- parked ------------------------------------------------------------------------------------------------


def test_a_parked_follower_hears_of_an_append_at_once_and_a_consumer_of_a_commit() -> None:
    trio = Trio()
    consumer = trio.fetch(CONSUMER, 0, max_wait_ms=1000)
    followers = [trio.fetch(each, 0, max_wait_ms=1000) for each in (2, 3)]
    trio.append(1)
    assert all(size(answered(each)) > 0 for each in followers)
    assert consumer.message is None
    for each in (2, 3):
        trio.fetch(each, 1)
    assert size(answered(consumer)) > 0


def test_a_parked_follower_hears_soon_that_the_high_watermark_rose() -> None:
    trio = Trio(PartitionImage(0, (1, 2, 3), (1, 2, 3), leader=1, leader_epoch=5))
    trio.append(1)
    parked = trio.fetch(2, 1, max_wait_ms=10_000, known_high_watermark=0, version=18)
    trio.pass_ms(100)
    assert parked.message is None
    trio.fetch(3, 1)
    trio.pass_ms(20)
    assert answered(parked).high_watermark == 1


def test_a_session_of_a_follower_is_told_each_high_watermark_once() -> None:
    trio = Trio()
    trio.append(1)
    first = trio.fetch(2, 0, session=(0, 0))
    assert isinstance(first.message, FetchResponse)
    session_id = first.message.session_id
    assert session_id > 0
    parked = trio.fetch(2, 1, session=(session_id, 1), max_wait_ms=10_000)
    trio.fetch(3, 1)
    trio.pass_ms(20)
    assert answered(parked).high_watermark == 1
    again = trio.fetch(2, 1, session=(session_id, 2), max_wait_ms=10_000)
    trio.pass_ms(1000)
    assert again.message is None


class Follower:
    """Broker 2 with a session over many partitions of another topic."""

    topic_id = b"w" * 16

    def __init__(self, trio: Trio, count: int) -> None:
        self.trio = trio
        images = tuple(PartitionImage(index, (1, 2), (1, 2), 1, 5, 10) for index in range(count))
        trio.install(TopicCreated(TopicImage("wide", self.topic_id, images)))
        self.session, self.later = trio.session(General)
        self.session_id = self.epoch = 0
        self.answer = self.ask(*((index, 0) for index in range(count)), max_wait_ms=0)
        assert self.answer is not None
        self.session_id = self.answer.session_id

    def ask(self, *asked: tuple[int, int], max_wait_ms: int = 10_000) -> FetchResponse | None:
        rows = [FetchPartition(index, 5, offset, -1, 0, 1 << 20) for index, offset in asked]
        request = FetchRequest(
            replica_state=ReplicaState(2, EPOCHS[2]),
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            session_id=self.session_id,
            session_epoch=self.epoch,
            topics=[FetchTopic(self.topic_id, "wide", rows)] if rows else [],
        )
        self.epoch += 1
        self.later.clear()
        reply = self.trio.ask(self.session, frame(1, 17, request))
        return None if reply is None else self.heard(reply)

    def heard(self, reply: bytes) -> FetchResponse:
        response = codec.read_response(1, 17, memoryview(reply)[4:])[1]
        assert isinstance(response, FetchResponse)
        return response

    def append(self, index: int) -> None:
        partition = self.trio.node.replicas.find("wide", index)
        assert partition is not None
        partition.append(memoryview(bytearray(Batch([b"v"], timestamp_ms=NOW_MS).encode())), 1, NOW_MS)

    def named(self, response: FetchResponse) -> list[int]:
        return [row.partition_index for topic in response.responses for row in topic.partitions]


def test_a_wide_session_hears_of_what_moved_and_of_nothing_else() -> None:
    follower = Follower(Trio(), 5)
    assert follower.ask() is None
    follower.append(3)
    follower.append(1)
    assert [follower.named(follower.heard(reply)) for reply in follower.later] == [[3]]
    answer = follower.ask((3, 1))  # and what came meanwhile
    assert answer is not None
    assert sorted(follower.named(answer)) == [1, 3]  # 3 is committed now
    assert follower.ask((1, 1)) is None
    follower.trio.pass_ms(20)
    assert [follower.named(follower.heard(reply)) for reply in follower.later] == [[1]]
    assert follower.ask() is None


def test_a_quiet_follower_of_an_idle_log_stays_in_sync() -> None:
    follower = Follower(Trio(replica_lag_time_max_ms="10000"), 2)
    for _ in range(30):
        assert follower.ask() is None
        follower.trio.pass_ms(2000)
        follower.trio.fetch(2, 0)
        follower.trio.fetch(3, 0)
    follower.append(0)
    follower.trio.pass_ms(5000)
    assert follower.trio.link.asked == []
    follower.trio.pass_ms(12_000)  # it was told, and has not come back
    assert follower.trio.link.proposed[0] == [1]


def test_a_session_hears_of_partitions_that_are_gone() -> None:
    follower = Follower(Trio(), 2)
    assert follower.ask() is None
    follower.trio.install(TopicDeleted("wide", follower.topic_id))
    codes = [
        row.error_code
        for reply in follower.later
        for topic in follower.heard(reply).responses
        for row in topic.partitions
    ]
    assert codes == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_a_forgotten_partition_is_not_watched() -> None:
    follower = Follower(Trio(), 2)
    request = FetchRequest(
        replica_state=ReplicaState(2, EPOCHS[2]),
        session_id=follower.session_id,
        session_epoch=follower.epoch,
        forgotten_topics_data=[ForgottenTopic(follower.topic_id, "wide", [0])],
    )
    follower.trio.ask(follower.session, frame(1, 17, request))
    partitions = list(follower.trio.node.replicas.of_topic("wide"))
    assert [len(partition.following) for partition in partitions] == [0, 1]


@pytest.mark.parametrize("leader", [1, 2])
def test_a_parked_fetch_hears_of_a_new_epoch(leader: int) -> None:
    trio = Trio()
    parked = [trio.fetch(each, 0, max_wait_ms=10_000) for each in (2, CONSUMER)]
    trio.change(leader=leader)
    codes = [answered(each).error_code for each in parked]
    assert codes == [ErrorCode.FENCED_LEADER_EPOCH] * 2  # whoever leads: the epoch is looked at first


# --- consumers at followers --------------------------------------------------------------------------------


def follow(trio: Trio, count: int) -> None:
    """Records as a leader would send them."""
    source = Trio()
    source.append(count)
    records = answered(source.fetch(2, 0)).records
    assert isinstance(records, memoryview)
    buffer = bytearray(records)
    trio.partition.append_as_follower(buffer, 0, len(buffer))


def test_a_follower_serves_consumers_what_it_knows_to_be_committed() -> None:
    trio = Trio(FOLLOWER)
    follow(trio, 10)
    parked = trio.fetch(CONSUMER, 0, max_wait_ms=1000)
    assert parked.message is None
    trio.partition.heard_from_leader(10, 0)
    assert size(answered(parked)) > 0
    assert answered(trio.fetch(CONSUMER, 0)).high_watermark == 10


def test_an_old_consumer_asks_the_leader() -> None:
    data = answered(Trio(FOLLOWER).fetch(CONSUMER, 0, version=10))
    assert data.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_leader_sends_a_consumer_to_the_replica_that_was_chosen() -> None:
    trio = Trio()
    trio.node.choose_replica = lambda _partition, _offset, client: 3 if client.rack_id == "east" else -1
    data = answered(trio.fetch(CONSUMER, 0, rack="east", max_wait_ms=1000))
    assert data.preferred_read_replica == 3
    assert trio.fetch(CONSUMER, 0, rack="west", max_wait_ms=1000).message is None


# --- throttles ---------------------------------------------------------------------------------------------


def throttled(trio: Trio, replicas: str) -> None:
    trio.configure(leader_replication_throttled_replicas=replicas)
    rate = {"leader.replication.throttled.rate": "10"}
    trio.install(ConfigChanged(ConfigResource(ConfigKind.BROKER, "1"), rate))


@pytest.mark.parametrize("replicas", ["*", "0:1", "1:2,0:1"])
def test_a_replica_out_of_sync_is_given_what_the_throttle_leaves(replicas: str) -> None:
    trio = Trio(PartitionImage(0, (1, 2, 3), (1, 2), leader=1, leader_epoch=5))
    throttled(trio, replicas)
    trio.append(100)
    assert size(answered(trio.fetch(3, 0))) > 100
    assert size(answered(trio.fetch(3, 0))) == 0
    assert size(answered(trio.fetch(2, 0))) > 100  # in sync
    assert trio.fetch(3, 0, max_wait_ms=100).message is None
    trio.pass_ms(60_000)
    assert size(answered(trio.fetch(3, 0))) > 100


@pytest.mark.parametrize("replicas", ["1:1", "0:2"])
def test_a_partition_that_is_not_named_is_not_throttled(replicas: str) -> None:
    trio = Trio(PartitionImage(0, (1, 2, 3), (1, 2), leader=1, leader_epoch=5))
    throttled(trio, replicas)
    trio.append(100)
    for _ in range(3):
        assert size(answered(trio.fetch(3, 0))) > 100


# --- other questions ---------------------------------------------------------------------------------------


def list_offsets(trio: Trio, timestamp: int, *, replica_id: int = -1, version: int = 7) -> object:
    asked = ListOffsetsPartition(0, trio.image.leader_epoch, timestamp)
    request = ListOffsetsRequest(replica_id, 0, [ListOffsetsTopic(TOPIC, [asked])])
    reply = trio.ask(trio.session(General)[0], frame(2, version, request))
    assert reply is not None
    response = codec.read_response(2, version, memoryview(reply)[4:])[1]
    assert isinstance(response, ListOffsetsResponse)
    row = response.topics[0].partitions[0]
    assert isinstance(row, ListOffsetsPartitionResponse)
    return ErrorCode(row.error_code) if row.error_code else row.offset


def test_a_new_leader_does_not_name_an_end_that_may_go_back() -> None:
    trio = Trio()
    trio.append(10)
    assert list_offsets(trio, -1) == 0
    trio.change(leader=1)
    assert list_offsets(trio, -1) == ErrorCode.OFFSET_NOT_AVAILABLE
    assert list_offsets(trio, -1, version=4) == ErrorCode.LEADER_NOT_AVAILABLE
    assert list_offsets(trio, NOW_MS) == ErrorCode.OFFSET_NOT_AVAILABLE
    assert list_offsets(trio, -2) == 0
    assert list_offsets(trio, -1, replica_id=2) == 10
    for each in (2, 3):
        trio.fetch(each, 10)
    assert list_offsets(trio, -1) == 10
    assert list_offsets(trio, NOW_MS) == 0


def test_a_follower_lists_no_offsets() -> None:
    assert list_offsets(Trio(FOLLOWER), -1) == ErrorCode.NOT_LEADER_OR_FOLLOWER


def delete_records(trio: Trio, offset: int) -> list[bytes]:
    topic = DeleteRecordsTopic(TOPIC, [DeleteRecordsPartition(0, offset)])
    session, later = trio.session(General)
    first = trio.ask(session, frame(21, 2, DeleteRecordsRequest([topic], 1000)))
    if first is not None:
        later.append(first)
    return later


def deleted(reply: bytes) -> tuple[int, int]:
    response = codec.read_response(21, 2, memoryview(reply)[4:])[1]
    assert isinstance(response, DeleteRecordsResponse)
    row = response.topics[0].partitions[0]
    return row.error_code, row.low_watermark


def test_deleted_records_are_gone_when_every_living_replica_has_dropped_them() -> None:
    trio = Trio()
    trio.append(10)
    for each in (2, 3):
        trio.fetch(each, 10)
    replies = delete_records(trio, 6)
    assert replies == []
    trio.fetch(2, 10, log_start_offset=6)
    assert replies == []
    trio.fetch(3, 10, log_start_offset=6)
    assert [deleted(reply) for reply in replies] == [(0, 6)]


def test_a_dead_replica_does_not_hold_up_the_deletion_of_records() -> None:
    trio = Trio()
    trio.append(10)
    for each in (2, 3):
        trio.fetch(each, 10)
    replies = delete_records(trio, 6)
    trio.gone(3)
    trio.fetch(2, 10, log_start_offset=6)
    assert [deleted(reply) for reply in replies] == [(0, 6)]


def test_a_deletion_that_takes_too_long_says_so() -> None:
    trio = Trio()
    trio.append(10)
    for each in (2, 3):
        trio.fetch(each, 10)
    replies = delete_records(trio, 6)
    trio.pass_ms(1100)
    assert [deleted(reply) for reply in replies] == [(ErrorCode.REQUEST_TIMED_OUT, -1)]


def test_a_parked_follower_hears_soon_that_records_were_deleted() -> None:
    trio = Trio()
    trio.append(10)
    for each in (2, 3):
        trio.fetch(each, 10)
    parked = trio.fetch(2, 10, max_wait_ms=10_000)
    delete_records(trio, 6)
    trio.pass_ms(20)
    assert answered(parked).log_start_offset == 6
