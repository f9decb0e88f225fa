"""Leaderships return by themselves, if the settings say so."""

from __future__ import annotations

from dataclasses import replace

from tests.support.node import NOW_MS, SmallNode

from barnabas.broker.node import Node
from barnabas.model.image import BrokerChanged, BrokerImage, PartitionChanged

INTERVAL_MS = 60_000


def misled(**settings: str) -> Node:
    """A partition that broker 1 should lead, and broker 2 does."""
    small = SmallNode(leader_imbalance_check_interval_seconds=str(INTERVAL_MS // 1000), **settings)
    small.create_topic("t")
    mislead(small.node)
    return small.node


def mislead(node: Node) -> None:
    own = node.image.topics["t"].partitions[0]
    changed = replace(own, replicas=(1, 2), isr=(2, 1), leader=2)
    node.publish((BrokerChanged(BrokerImage(2, 7, {})), PartitionChanged("t", changed)))


def leader_after(node: Node, milliseconds: int) -> int:
    node.set_time(node.now_ms + milliseconds, NOW_MS)
    node.tick()
    node.store.poll()
    return node.image.topics["t"].partitions[0].leader


def test_leadership_returns_at_every_look() -> None:
    node = misled()
    assert leader_after(node, 4_900) == 2
    assert leader_after(node, 200) == 1
    mislead(node)
    assert leader_after(node, INTERVAL_MS // 2) == 2
    assert leader_after(node, INTERVAL_MS) == 1


def test_leadership_stays_where_it_is_if_nobody_looks() -> None:
    node = misled(auto_leader_rebalance_enable="false")
    assert leader_after(node, 2 * INTERVAL_MS) == 2


def test_what_a_broker_may_lack_stays_away() -> None:
    node = misled(leader_imbalance_per_broker_percentage="100")
    assert leader_after(node, 2 * INTERVAL_MS) == 2


def test_only_the_controller_decides() -> None:
    node = misled()
    node.controller.is_active = False
    assert leader_after(node, INTERVAL_MS) == 2
