"""Questions to the controller, while the office changes hands."""

from __future__ import annotations

from tests.support.nodes import Nodes
from tests.unit.broker.test_peers import TIMEOUT_MS, Asked

from barnabas.broker.cluster.controller_link import NOBODY
from barnabas.broker.cluster.peers import Answered, Failed
from barnabas.broker.node import Node
from barnabas.protocol.schema import Message


class LinkOf:
    """The link as a peer to ask."""

    refusals = 0

    def __init__(self, node: Node) -> None:
        self._node = node

    def ask(
        self,
        request: Message,
        version: int,
        answered: Answered,
        failed: Failed,
        timeout_ms: int | None = None,
    ) -> None:
        self._node.controller_link.ask(request, version, answered, failed, timeout_ms)

    def close(self) -> None: ...


def test_whoever_holds_the_office_is_asked() -> None:
    nodes = Nodes(1, 2)
    for controller in (2, 1):
        nodes[1].controller_link.follow(controller)
        asked = Asked(LinkOf(nodes[1]))
        nodes.run(10)
        assert asked.outcome == (1, 0)
    nodes[1].controller_link.follow(NOBODY)
    asked = Asked(LinkOf(nodes[1]))
    nodes.run(10)
    assert asked.outcome == (0, 1)


def test_what_a_paused_controller_was_asked_fails_when_another_is_known() -> None:
    """It keeps its connections: a leader's proposals would wait for as long as a question may take."""
    nodes = Nodes(1, 2, 3)
    link = nodes[1].controller_link
    link.follow(2)
    nodes.network.cut = {(1, 2)}
    asked = [Asked(LinkOf(nodes[1])), Asked(LinkOf(nodes[1]))]
    nodes.run(10)
    link.follow(2)
    nodes.run(1)
    assert [each.outcome for each in asked] == [(0, 0)] * 2
    link.follow(3)
    nodes.run(1)
    assert [each.outcome for each in asked] == [(0, 1)] * 2
    again = Asked(LinkOf(nodes[1]))
    nodes.network.cut = set()
    nodes.run(TIMEOUT_MS + 1)
    assert again.outcome == (1, 0)
    assert [each.outcome for each in asked] == [(0, 1)] * 2


def test_clients_are_sent_to_whoever_can_answer_them() -> None:
    """To the controller; while nobody decides, or it does not answer, to the broker that they asked."""
    link = Nodes(1, 2)[1].controller_link
    assert link.controller_id_for_clients == 1
    link.follow(2)
    assert link.controller_id_for_clients == 2
    link.is_silent = True
    assert link.controller_id_for_clients == 1
    link.follow(3)
    assert link.controller_id_for_clients == 3
