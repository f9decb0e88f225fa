"""Brokers that the controller lost contact with: those whose machine says that they are gone, are."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.nodes import Nodes

from barnabas.broker.session import Session
from barnabas.controller.decision import Decision
from barnabas.model.image import ClusterImage

LONG_MS = 20_000


class Office:
    """Broker 1 of two is the controller; what it decides is noted and does not happen."""

    def __init__(self) -> None:
        self.nodes = Nodes(1, 2)
        self.node = self.nodes[1]
        self.node.controller.is_active = True
        self.node.controller.decide = self._decide  # type: ignore[method-assign, assignment]
        self.gone: list[int] = []

    def _decide(self, decision: Callable[[ClusterImage], Decision[int]], _done: Callable[..., None]) -> None:
        self.gone += decision(self.nodes.image).results

    def lose_contact(self, span_ms: int = LONG_MS) -> None:
        session = Session("PLAINTEXT", "broker-2", lambda _parts: None)
        self.node.searching.heard(session, 2)
        self.node.disconnected(session)
        self.nodes.run(span_ms)


def test_a_broker_whose_machine_refuses_connections_is_gone() -> None:
    office = Office()
    office.nodes.stop(2, orderly=False)
    office.lose_contact()
    assert office.gone == [2]
    assert office.nodes.network.lines == []


def test_a_broker_that_only_lost_its_connection_stays() -> None:
    office = Office()
    office.lose_contact()
    assert office.gone == []
    assert office.nodes.network.lines == [], "nobody holds on to it"


def test_of_silence_nothing_is_concluded() -> None:
    office = Office()
    office.nodes.network.cut = {(1, 2)}
    office.lose_contact()
    assert office.gone == []
    assert office.nodes.network.opened < 10, "nor is it looked for without end"


def test_a_broker_that_is_back_before_it_is_given_up_stays() -> None:
    office = Office()
    office.nodes.stop(2, orderly=False)
    office.lose_contact(span_ms=1)
    office.nodes.start(2)
    office.nodes.run(LONG_MS)
    assert office.gone == []


def test_another_life_is_not_mistaken_for_the_one_that_ended() -> None:
    office = Office()
    office.nodes.restart(2, orderly=False)
    office.nodes.stop(2, orderly=False)
    office.lose_contact(span_ms=1)
    search = office.node.searching._searches[2]
    search._epoch -= 100
    office.nodes.run(LONG_MS)
    assert office.gone == []


def test_a_broker_that_nobody_ever_reaches_goes_only_once() -> None:
    """It advertises an address where nobody listens, and comes back each time that it is put out."""
    office = Office()
    office.nodes.stop(2, orderly=False)
    office.lose_contact()
    office.lose_contact()
    assert office.gone == [2]
    office.nodes.start(2)
    office.lose_contact()  # and found
    office.nodes.stop(2, orderly=False)
    office.lose_contact()
    assert office.gone == [2, 2]


def test_a_new_controller_looks_for_everybody_else() -> None:
    office = Office()
    office.nodes.stop(2, orderly=False)
    office.node.searching.look_for_all()
    office.nodes.run(LONG_MS)
    assert office.gone == [2]


def test_who_does_not_hold_the_office_looks_for_nobody() -> None:
    office = Office()
    office.node.controller.is_active = False
    office.nodes.stop(2, orderly=False)
    opened = office.nodes.network.opened
    office.lose_contact()
    assert (office.gone, office.nodes.network.opened) == ([], opened)
