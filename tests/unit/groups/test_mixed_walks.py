"""Consumers of both protocols come, go, vanish and find the broker restarted, in any order: in the end every
partition has one owner and the group is of the kind its members are."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.classic_consumer import ClassicConsumer
from tests.support.consumer_group import GROUP, Consumer, Scene

from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.model.errors import ErrorCode

_NEW = st.sampled_from(["new1", "new2", "new3"])
_OLD = st.sampled_from(["old1", "old2", "old3"])
_STEPS = st.one_of(
    st.tuples(st.just("join"), _NEW | _OLD, st.booleans()),
    st.tuples(st.just("beat"), _NEW | _OLD, st.none()),
    st.tuples(st.just("beat"), _NEW | _OLD, st.none()),
    st.tuples(st.just("leave"), _NEW | _OLD, st.none()),
    st.tuples(st.just("vanish"), _NEW | _OLD, st.none()),
    st.tuples(st.just("wait"), st.just(""), st.sampled_from([0, 1_000, 1_000, 11_000, 46_000])),
    st.tuples(st.just("restart"), st.just(""), st.none()),
)


class Walk:
    def __init__(self) -> None:
        self.scene = Scene({"group.initial.rebalance.delay.ms": "0"}, t=4)
        self.alive: dict[str, Consumer | ClassicConsumer] = {}
        self.joins = 0

    def take(self, step: tuple[str, str, Any]) -> None:
        what, name, detail = step
        match what:
            case "join" if name.startswith("new"):
                self.join(name)
            case "join":
                self.alive[name] = ClassicConsumer(self.scene, eager=detail)
                self.beat(name)
            case "beat" if name in self.alive:
                self.beat(name)
            case "leave" if name in self.alive:
                self.alive.pop(name).leave()
            case "vanish":
                self.alive.pop(name, None)
            case "wait":
                self.wait(detail)
            case "restart":
                self.restart()

    def join(self, name: str) -> None:
        self.joins += 1
        self.alive[name] = Consumer(self.scene, f"{name}-{self.joins}", "t")

    def beat(self, name: str) -> None:
        consumer = self.alive[name]
        if isinstance(consumer, ClassicConsumer):
            consumer.step()
        elif consumer.beat().error_code != ErrorCode.NONE:
            self.join(name)

    def wait(self, duration_ms: int) -> None:
        self.scene.host.pass_ms(duration_ms)
        for name in list(self.alive):
            self.beat(name)

    def restart(self) -> None:
        """Connections break: who waited for an answer asks again."""
        self.scene.restart()
        for consumer in self.alive.values():
            if isinstance(consumer, ClassicConsumer) and consumer._waiting is not None:
                consumer._waiting = None
                consumer.is_stable = False

    def finish(self) -> None:
        for _ in range(40):
            self.wait(3_000)
        for _ in range(6):
            self.wait(1_000)
        given = Counter(each for consumer in self.alive.values() for each in consumer.partitions)
        wanted = {("t", number) for number in range(4)} if self.alive else set()
        assert set(given) == wanted
        assert all(count == 1 for count in given.values())
        if self.alive:
            group = self.scene.shard.groups[GROUP]
            assert group.state == "Stable"
            if any(isinstance(consumer, Consumer) for consumer in self.alive.values()):
                assert isinstance(group, ConsumerGroup)


@settings(max_examples=60, deadline=None)
@given(st.lists(_STEPS, max_size=25))
def test_in_the_end_every_partition_has_one_owner(steps: list[tuple[str, str, Any]]) -> None:
    walk = Walk()
    for step in steps:
        walk.take(step)
    walk.finish()
