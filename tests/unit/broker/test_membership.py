"""A broker in a tree that others may write: registered again after its session, told of what they wrote."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.support.node import NOW_MS, SmallNode, frame

from barnabas.broker.cluster.membership import RETRY_MS
from barnabas.broker.cluster.store_client import StoreClient
from barnabas.controller import tree
from barnabas.controller.producer_ids import allocate_producer_ids
from barnabas.controller.registration import claim_controller, register_broker
from barnabas.controller.znodes.cluster import decode_broker, encode_broker, encode_controller_epoch
from barnabas.log.manager import LogManager
from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.errors import ErrorCode
from barnabas.model.image import BrokerImage
from barnabas.ports import Create, Delete, Get, Put, Read, SessionEnded, Set, StoreLostError, Value, Write
from barnabas.protocol import codec
from barnabas.protocol.private import VERSION, AllocateProducerIdsRequest, AllocateProducerIdsResponse
from barnabas.store.memory import MemoryStore

ENDPOINTS = {"PLAINTEXT": Endpoint("127.0.0.1", 9092, SecurityProtocol.PLAINTEXT)}
OTHER = BrokerImage(2, -1, ENDPOINTS)


class Member:
    def __init__(self) -> None:
        self.small = SmallNode()
        self.node = self.small.node
        store = self.node.store._store
        assert isinstance(store, MemoryStore)
        self.store = store
        self.other = MemoryStore(store._home)
        self.other.start(lambda: None)
        self.membership = self.small.boot.membership
        self.settle()

    def settle(self) -> None:
        for _ in range(20):
            self.node.store.poll()
            self.node.tick()

    def write(self, *operations: Write) -> None:
        """By somebody else."""
        self.other.submit(operations)
        self.settle()

    def read(self, path: str) -> Value | None:
        operation: Read = Get(path)
        self.other.submit([operation])
        answer = self.other.events()[-1].answers[0]  # type: ignore[union-attr]
        assert answer is None or isinstance(answer, Value)
        return answer


@pytest.fixture
def member() -> Member:
    return Member()


def test_a_new_session_has_a_new_registration_and_a_new_controller_epoch(member: Member) -> None:
    member.small.create_topic("trucks")
    before = member.node.image
    member.store.expire()
    assert member.read("/brokers/ids/1") is None
    member.settle()
    after = member.node.image
    assert after.brokers[1].epoch > before.brokers[1].epoch
    assert after.controller_epoch == before.controller_epoch + 1
    assert after.topics == before.topics
    member.small.create_topic("after")
    assert set(member.node.image.topics) == {"trucks", "after"}


def test_an_unclean_start_stays_one_until_the_controller_has_seen_to_it(member: Member) -> None:
    membership = member.membership
    membership._broker = replace(membership._broker, fenced=True)
    registered, membership.epoch = membership.epoch, -1  # it still waits for the end of its earlier life
    membership._session(SessionEnded())
    assert membership._broker.fenced
    membership.epoch = registered
    membership._session(SessionEnded())
    assert not membership._broker.fenced


def test_a_registration_that_tells_of_an_earlier_life_is_made_again(member: Member) -> None:
    """A controller decided to admit a broker; before that was written, the broker had gone and come again."""
    before = member.node.image.brokers[1]
    elsewhere = {"PLAINTEXT": Endpoint("127.0.0.1", 1, SecurityProtocol.PLAINTEXT)}
    registration = encode_broker(replace(before, endpoints=elsewhere), 0)
    member.membership._broker = replace(member.membership._broker, fenced=True)
    member.write(Set("/brokers/ids/1", registration, 0))
    found = member.read("/brokers/ids/1")
    assert found is not None
    assert decode_broker(found.path, found.data, 0).endpoints == ENDPOINTS
    after = member.node.image.brokers[1]
    assert after.epoch > before.epoch
    assert after.endpoints == before.endpoints
    assert found.stat.version == 1  # registered as what it is, an unclean start, and then admitted


def test_decisions_wait_until_the_broker_is_registered_again(member: Member) -> None:
    member.node.controller.pause()
    answered: list[object] = []

    def remember(*answer: object) -> None:
        answered.append(answer)

    member.node.controller.decide(
        lambda image: allocate_producer_ids(image, 1, image.brokers[1].epoch), remember
    )
    member.settle()
    assert answered == []
    member.store.expire()
    member.settle()
    assert len(answered) == 1


def test_who_asked_for_ids_in_an_earlier_life_is_told_so(member: Member) -> None:
    """A request may stand in line for longer than its broker was registered."""
    member.write(register_broker(BrokerImage(2, -1, ENDPOINTS, None), 0))
    request = AllocateProducerIdsRequest(2, member.node.image.brokers[2].epoch)
    member.node.controller.pause()
    member.other.close()
    member.settle()
    session, later = member.small.session()
    assert member.small.ask(session, frame(request.API_KEY, VERSION, request)) is None
    member.node.controller.resume()
    member.settle()
    (reply,) = later
    _, answer = codec.read_response(request.API_KEY, VERSION, memoryview(reply)[4:])
    assert isinstance(answer, AllocateProducerIdsResponse)
    assert answer.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED


def test_a_write_of_unknown_fate_has_the_tree_read_again(member: Member) -> None:
    """The connection dropped after the ensemble had carried it out."""
    real = member.store.submit
    lost: list[int] = []

    def lose_the_answer(operations: object) -> int:
        ticket = real(operations)  # type: ignore[arg-type]
        if not lost and any(isinstance(one, Create) for one in operations):  # type: ignore[attr-defined]
            lost.append(ticket)
            events = member.store.events()
            for event in events:
                if getattr(event, "ticket", None) == ticket:
                    object.__setattr__(event, "answers", ())
                    object.__setattr__(event, "error", StoreLostError())
            member.store._events.add(*events)
        return ticket

    member.store.submit = lose_the_answer  # type: ignore[method-assign]
    member.small.create_topic("trucks")
    member.settle()
    assert lost
    assert set(member.node.image.topics) == {"trucks"}
    member.small.create_topic("next")
    assert set(member.node.image.topics) == {"trucks", "next"}


def test_a_broker_that_comes_and_goes_is_in_the_image_and_out_of_it(member: Member) -> None:
    member.write(register_broker(BrokerImage(2, -1, ENDPOINTS, None), 0))
    assert set(member.node.image.brokers) == {1, 2}
    member.other.close()
    member.settle()
    assert set(member.node.image.brokers) == {1}


def test_who_was_there_before_is_waited_for(member: Member) -> None:
    """A session that ended may still hold the office for a moment."""
    member.store._end()
    member.write(Create(tree.CONTROLLER, b'{"version":1,"brokerid":1,"timestamp":"0"}', ephemeral=True))
    member.store._begin()
    member.settle()
    assert not member.node.controller.is_active
    member.other.close()
    member.node.set_time(member.node.now_ms + RETRY_MS, 0)
    member.node.tick()
    member.settle()
    assert member.node.image.brokers[1].epoch > 0
    assert member.node.image.controller_id == 1


def test_a_topic_written_by_a_tool_is_led_grown_and_deleted(member: Member) -> None:
    member.write(Put("/brokers/topics/trucks", b'{"version":1,"partitions":{"0":[1]}}'))
    topic = member.node.image.topics["trucks"]
    assert [partition.leader for partition in topic.partitions] == [1]
    member.write(Put("/brokers/topics/trucks", b'{"version":1,"partitions":{"0":[1],"1":[1]}}'))
    assert len(member.node.image.topics["trucks"].partitions) == 2
    member.write(Create("/admin/delete_topics/trucks"), Create("/admin/delete_topics/nobody"))
    assert "trucks" not in member.node.image.topics
    assert member.read("/admin/delete_topics/trucks") is None
    assert member.read("/admin/delete_topics/nobody") is None


def test_a_topic_whose_replicas_were_all_away_is_led_when_one_comes(member: Member) -> None:
    member.write(Put("/brokers/topics/trucks", b'{"version":1,"partitions":{"0":[2],"1":[1]}}'))
    assert [partition.leader for partition in member.node.image.topics["trucks"].partitions] == [-1, 1]
    member.write(register_broker(BrokerImage(2, -1, ENDPOINTS, None), 0))
    assert [partition.leader for partition in member.node.image.topics["trucks"].partitions] == [2, 1]


def test_a_note_of_changed_settings_is_read_and_removed(member: Member) -> None:
    member.small.create_topic("trucks")
    member.write(
        Put("/config/topics/trucks", b'{"version":1,"config":{"retention.ms":"1"}}'),
        Create("/config/changes/c_", b'{"version":2,"entity_path":"topics/trucks"}', sequential=True),
    )
    assert [dict(values) for values in member.node.image.configs.values()] == [{"retention.ms": "1"}]
    assert member.read("/config/changes/c_0000000000") is None


def test_what_we_write_ourselves_is_not_read_again(member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr(member.membership.office._tree, "_look_again", lambda: looks.append(1))
    member.small.create_topic("trucks")
    member.small.delete_topic("trucks")
    member.settle()
    assert looks == []


def test_a_controller_that_is_gone_is_deposed_once_a_session(member: Member) -> None:
    member.write(register_broker(OTHER, now_ms=0))
    _claim(member)
    assert not member.node.controller.is_active
    member.membership._depose()
    member.settle()
    assert member.node.controller.is_active, "whoever deposes may succeed"
    _claim(member)
    member.membership._depose()
    member.settle()
    assert not member.node.controller.is_active, "it lives: a wall between the two is no reason to go on"


def test_nobody_is_deposed_for_a_claim_that_was_not_seen_whole(member: Member) -> None:
    """The claim was read, then the epoch of the next one: that one is not known to be gone."""
    member.write(register_broker(OTHER, now_ms=0))
    _claim(member)
    member.write(Set(tree.CONTROLLER_EPOCH, encode_controller_epoch(9)))
    member.membership.look()
    member.settle()
    member.membership._depose()
    member.settle()
    assert not member.node.controller.is_active


def _claim(member: Member) -> None:
    """Broker 2, whom nobody reaches, takes the office after somebody took it away."""
    member.membership._puller.follow = lambda controller_id: None  # type: ignore[method-assign]
    epoch = member.read(tree.CONTROLLER_EPOCH)
    assert epoch is not None
    claim = claim_controller({epoch.path: epoch}, OTHER.id, now_ms=0)
    member.write(Delete(tree.CONTROLLER), *claim)


def test_a_session_that_ends_during_the_start_opens_the_logs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its loss and the session after it are two reasons to look at the store again."""
    member = Member()
    member.small.create_topic("trucks")
    member.store.close()
    member.node.logs.close_all(NOW_MS)
    opened: list[object] = []
    open_all = LogManager.open_all

    def counted(self: LogManager, *arguments: Any) -> None:
        opened.append(self)
        open_all(self, *arguments)

    monkeypatch.setattr(LogManager, "open_all", counted)
    store = MemoryStore(member.store._home)
    poll = StoreClient.poll

    def cut_once(self: StoreClient) -> None:
        poll(self)
        monkeypatch.setattr(StoreClient, "poll", poll)
        store.expire()  # the first look is under way

    monkeypatch.setattr(StoreClient, "poll", cut_once)
    member.small.start(store)
    node = member.small.node
    node.set_time(60_000, NOW_MS)
    for _ in range(20):
        node.tick()
        node.store.poll()
    assert len(opened) == 1
    assert set(node.image.topics) == {"trucks"}
