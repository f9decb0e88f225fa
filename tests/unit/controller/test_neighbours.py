"""Brokers whose listeners do not go together are told so before they start."""

from __future__ import annotations

from barnabas.controller.neighbours import listener_conflict
from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.image import BrokerImage


def broker(broker_id: int, **ports: int) -> BrokerImage:
    endpoints = {name: Endpoint("h", port, SecurityProtocol.PLAINTEXT) for name, port in ports.items()}
    return BrokerImage(broker_id, 1, endpoints)


def test_two_brokers_with_addresses_of_their_own_go_together() -> None:
    others = [broker(1, CLIENTS=3, BROKERS=4)]
    assert listener_conflict(broker(0, CLIENTS=1, BROKERS=2), others, "BROKERS") is None


def test_an_earlier_life_of_the_same_broker_is_no_neighbour() -> None:
    assert listener_conflict(broker(0, CLIENTS=1), [broker(0, CLIENTS=1)], "CLIENTS") is None


def test_one_address_for_two_brokers_is_refused_whatever_the_listener_is_called() -> None:
    said = listener_conflict(broker(0, CLIENTS=1, BROKERS=2), [broker(1, OTHERS=2, BROKERS=5)], "BROKERS")
    assert said is not None
    assert said.startswith(
        "Configured end points h:2 in advertised listeners are already registered by broker 1"
    )


def test_a_neighbour_without_the_listener_among_brokers_is_refused() -> None:
    said = listener_conflict(broker(0, CLIENTS=1, BROKERS=2), [broker(1, CLIENTS=3)], "BROKERS")
    assert said is not None
    assert "broker 1 has only CLIENTS" in said
