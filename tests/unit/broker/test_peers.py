"""Questions to other brokers, and everything that may come between them and their answers."""

from __future__ import annotations

from dataclasses import replace

from tests.support.nodes import Nodes

from barnabas.broker.cluster.peers import Peer
from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.image import BrokerChanged, BrokerGone
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.protocol.schema import Message

TIMEOUT_MS = 5_000


class Asked:
    def __init__(self, peer: Peer) -> None:
        self.answers: list[Message] = []
        self.failures = 0
        peer.ask(ApiVersionsRequest("test", "1"), 4, self.answers.append, self._failed, TIMEOUT_MS)
        assert not self.answers
        assert not self.failures  # neither before `ask` has returned

    def _failed(self) -> None:
        self.failures += 1

    @property
    def outcome(self) -> tuple[int, int]:
        return len(self.answers), self.failures


def test_a_question_is_answered_once() -> None:
    nodes = Nodes(1, 2)
    asked = [Asked(nodes[1].peers.of(2)) for _ in range(3)]
    nodes.run(TIMEOUT_MS + 1)
    assert [each.outcome for each in asked] == [(1, 0)] * 3
    assert isinstance(asked[0].answers[0], ApiVersionsResponse)
    assert nodes.network.opened == 1


def test_a_broker_asks_itself_as_it_asks_others() -> None:
    nodes = Nodes(1)
    asked = Asked(nodes[1].peers.of(1))
    nodes.run(1)
    assert asked.outcome == (1, 0)
    assert nodes.network.opened == 0


def test_a_broker_that_is_down_is_tried_less_and_less_often() -> None:
    nodes = Nodes(1, 2)
    nodes.stop(2)
    peer = nodes[1].peers.of(2)
    asked = Asked(peer)
    for _ in range(100):
        nodes.run(50)
        if asked.failures:
            asked = Asked(peer)
    assert 5 <= nodes.network.opened <= 10  # in five seconds
    nodes.start(2)
    nodes.run(1_000)
    asked = Asked(peer)
    nodes.run(1_000)
    assert asked.outcome == (1, 0)


def test_a_broker_that_nobody_knows_fails_at_once() -> None:
    nodes = Nodes(1)
    asked = Asked(nodes[1].peers.of(9))
    nodes.run(1)
    assert asked.outcome == (0, 1)


def test_silence_fails_every_question_and_the_next_gets_a_new_line() -> None:
    nodes = Nodes(1, 2)
    peer = nodes[1].peers.of(2)
    nodes.network.cut = {(1, 2)}
    asked = [Asked(peer), Asked(peer)]
    nodes.run(TIMEOUT_MS - 1)
    assert [each.outcome for each in asked] == [(0, 0)] * 2
    nodes.run(1)
    assert [each.outcome for each in asked] == [(0, 1)] * 2
    nodes.network.cut = set()
    nodes.run(100)
    again = Asked(peer)
    nodes.run(1)
    assert again.outcome == (1, 0)
    assert nodes.network.opened == 2


def test_garbage_and_answers_to_something_else_cost_the_line() -> None:
    nodes = Nodes(1, 2)
    peer = nodes[1].peers.of(2)
    for tamper in (lambda frame: frame[:7], lambda frame: bytearray(b"\0\0\0\x63") + frame[4:]):
        nodes.network.tamper = tamper
        asked = Asked(peer)
        nodes.run(1)
        assert asked.outcome == (0, 1)
        nodes.network.tamper = lambda frame: frame
        nodes.run(1_000)
    asked = Asked(peer)
    nodes.run(1)
    assert asked.outcome == (1, 0)


def test_whoever_closes_is_not_called_back() -> None:
    nodes = Nodes(1, 2)
    nodes.network.cut = {(1, 2)}
    waiting = nodes[1].peers.open(2)
    asked = Asked(waiting)
    nodes.run(1)
    waiting.close()
    nodes.stop(2)
    refused = nodes[1].peers.open(2)
    first = Asked(refused)
    nodes.run(1)
    assert first.outcome == (0, 1)
    second = Asked(refused)  # in the pause after a refusal
    refused.close()
    nodes.run(2 * TIMEOUT_MS)
    assert (asked.outcome, second.outcome) == ((0, 0), (0, 0))


def test_a_broker_that_moved_is_asked_where_it_is_now() -> None:
    nodes = Nodes(1, 2, 3)
    peer = nodes[1].peers.of(2)
    Asked(peer)
    nodes.run(1)
    before = nodes.image.brokers[2]
    there = {"PLAINTEXT": Endpoint("127.0.0.1", 9003, SecurityProtocol.PLAINTEXT)}
    nodes.change(BrokerChanged(replace(before, endpoints=there)))
    asked = Asked(peer)
    nodes.run(1_000)
    again = Asked(peer)
    nodes.run(1)
    assert 1 in {asked.outcome[0], again.outcome[0]}
    assert [line.target for line in nodes.network.lines if line.source == 1] == [3]


def test_a_broker_that_went_and_whose_line_stands_is_still_asked() -> None:
    """The image may be behind, or ahead: what answers is there."""
    nodes = Nodes(1, 2)
    peer = nodes[1].peers.of(2)
    Asked(peer)
    nodes.run(1)
    nodes.change(BrokerGone(2))
    asked = Asked(peer)
    nodes.run(1)
    assert asked.outcome == (1, 0)


def test_a_broker_that_came_back_elsewhere_is_found_before_the_image_shows_it() -> None:
    """The image that shows it can only come from itself, if it is the controller now."""
    nodes = Nodes(1, 2)
    node = nodes[1]
    before = node.image.brokers[2]
    elsewhere = Endpoint("elsewhere", 1, SecurityProtocol.PLAINTEXT)
    node.peers.tell(replace(before, epoch=before.epoch + 1, endpoints={"PLAINTEXT": elsewhere}))
    assert node.peers.endpoint(2) == elsewhere
    node.install(node.image.apply([BrokerChanged(replace(before, epoch=before.epoch + 2))]))
    assert node.peers.endpoint(2) == before.endpoint("PLAINTEXT")
    node.install(node.image.apply([BrokerGone(2)]))
    assert node.peers.endpoint(2) == elsewhere


def test_refusals_are_counted_until_somebody_answers() -> None:
    nodes = Nodes(1, 2)
    peer = nodes[1].peers.open(2)
    nodes.stop(2, orderly=False)
    for count in (1, 2):
        Asked(peer)
        nodes.run(TIMEOUT_MS)
        assert peer.refusals == count
    nodes.start(2)
    Asked(peer)
    nodes.run(TIMEOUT_MS)
    assert peer.refusals == 0
