"""A broker that stops asks to be replaced, and does not ask for ever."""

from __future__ import annotations

from dataclasses import replace

from tests.support.node import NOW_MS, SmallNode

from barnabas.broker.cluster.leaving import Leaving
from barnabas.model.image import BrokerChanged, BrokerImage, PartitionChanged, PartitionImage


class Stopping:
    def __init__(self, isr: tuple[int, ...] = (1, 2), **settings: str) -> None:
        """Broker 1 is the controller and leads a partition; broker 2 is its other replica."""
        small = SmallNode(**settings)
        small.create_topic("t")
        self.node = small.node
        own = self.node.image.topics["t"].partitions[0]
        other = BrokerImage(2, 77, {})
        shared = replace(own, replicas=(1, 2), isr=isr)
        self.node.publish((BrokerChanged(other), PartitionChanged("t", shared)))
        self.has_left = 0
        Leaving(self.node, self._left).begin()
        assert not self.has_left

    def _left(self) -> None:
        self.has_left += 1

    def pass_time(self, milliseconds: int) -> None:
        end_ms = self.node.now_ms + milliseconds
        while self.node.now_ms <= end_ms:
            wait_ms = self.node.tick()
            self.node.store.poll()
            self.node.set_time(self.node.now_ms + max(1, min(wait_ms, 50)), NOW_MS)

    @property
    def partition(self) -> PartitionImage:
        return self.node.image.topics["t"].partitions[0]


def test_whoever_leaves_has_a_successor_first() -> None:
    stopping = Stopping()
    stopping.pass_time(10)
    assert stopping.has_left == 1
    assert (stopping.partition.leader, stopping.partition.isr) == (2, (2,))
    assert stopping.node.image.brokers[1].leaving


def test_whoever_cannot_be_replaced_yet_waits_as_long_as_the_settings_say() -> None:
    stopping = Stopping((1,), controlled_shutdown_max_retries="2", controlled_shutdown_retry_backoff_ms="400")
    stopping.pass_time(700)
    assert stopping.has_left == 0
    stopping.pass_time(200)
    assert stopping.has_left == 1
    assert stopping.partition.leader == 1
    stopping.pass_time(5_000)
    assert stopping.has_left == 1


def test_a_successor_that_comes_in_time_ends_the_wait() -> None:
    stopping = Stopping((1,))
    stopping.pass_time(600)
    assert stopping.has_left == 0
    stopping.node.publish((PartitionChanged("t", replace(stopping.partition, isr=(1, 2))),))
    stopping.pass_time(600)
    assert stopping.has_left == 1
    assert stopping.partition.leader == 2


def test_whoever_is_told_not_to_ask_just_goes() -> None:
    stopping = Stopping(controlled_shutdown_enable="false")
    stopping.pass_time(0)
    assert stopping.has_left == 1
    assert stopping.partition.leader == 1


def test_a_broker_alone_just_goes() -> None:
    node = SmallNode().node
    left: list[bool] = []
    Leaving(node, lambda: left.append(True)).begin()
    node.tick()
    assert left == [True]
