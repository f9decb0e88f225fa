"""What tools of Kafka 2.x leave under /admin is carried out, and taken away when it is done."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.unit.broker.test_membership import Member

from barnabas.broker.cluster.tree_orders import LOOK_MS
from barnabas.controller import tree
from barnabas.controller.elections import ElectionRules
from barnabas.controller.isr import Member as InSync
from barnabas.controller.isr import ProposedIsr, alter_isrs
from barnabas.controller.registration import register_broker
from barnabas.model.image import PartitionImage
from barnabas.ports import Create, Set
from barnabas.store.memory import MemoryStore


class Ordered(Member):
    """Beside it a second broker is registered and does nothing: it can be moved to."""

    def __init__(self) -> None:
        super().__init__()
        self.small.create_topic("trucks")
        self.second = MemoryStore(self.store._home)
        self.second.start(lambda: None)
        broker = replace(self.node.image.brokers[1], id=2)
        self.second.submit([register_broker(broker, 0)])
        self.settle()
        assert set(self.node.image.brokers) == {1, 2}

    def order(self, *rows: tuple[str, int, list[int]]) -> None:
        self.write(Create(tree.REASSIGN_PARTITIONS, document(*rows)))

    @property
    def partition(self) -> PartitionImage:
        return self.node.image.topics["trucks"].partitions[0]

    def catch_up(self) -> None:
        image, partition = self.node.image, self.partition
        proposed = ProposedIsr(
            image.topics["trucks"].id,
            0,
            partition.leader_epoch,
            partition.partition_epoch,
            (InSync(1), InSync(2)),
        )
        self.node.controller.decide(
            lambda now: alter_isrs(
                now, 1, now.brokers[1].epoch, [proposed], lambda _topic: ElectionRules(1, unclean=False)
            ),
            lambda _results, error: self.refused(error),
        )
        self.settle()

    @staticmethod
    def refused(error: object) -> None:
        assert error is None

    def look(self) -> None:
        self.node.set_time(self.node.now_ms + LOOK_MS, self.node.wall_ms + LOOK_MS)
        self.settle()


def document(*rows: tuple[str, int, list[int]]) -> bytes:
    named = [{"topic": topic, "partition": index, "replicas": replicas} for topic, index, replicas in rows]
    return json.dumps({"version": 1, "partitions": named}).encode()


@pytest.fixture
def ordered() -> Ordered:
    return Ordered()


def test_an_ordered_move_begins_and_its_node_goes_when_it_has_arrived(ordered: Ordered) -> None:
    ordered.order(("trucks", 0, [2]))
    assert (ordered.partition.replicas, ordered.partition.adding) == ((2, 1), (2,))
    ordered.look()
    assert ordered.read(tree.REASSIGN_PARTITIONS) is not None
    ordered.catch_up()
    assert (ordered.partition.replicas, ordered.partition.leader) == ((2,), 2)
    ordered.look()
    assert ordered.read(tree.REASSIGN_PARTITIONS) is None


def test_what_cannot_be_moved_is_taken_out_and_the_rest_goes_on(ordered: Ordered) -> None:
    ordered.order(("trucks", 0, [2]), ("none", 0, [2]), ("trucks", 7, [1]))
    left = ordered.read(tree.REASSIGN_PARTITIONS)
    assert left is not None
    assert json.loads(left.data)["partitions"] == [{"topic": "trucks", "partition": 0, "replicas": [2]}]
    assert ordered.partition.adding == (2,)


def test_an_order_that_is_changed_is_heard(ordered: Ordered) -> None:
    ordered.order(("trucks", 0, [2]))
    ordered.write(Set(tree.REASSIGN_PARTITIONS, document(("trucks", 0, [1, 2]))))
    assert (ordered.partition.replicas, ordered.partition.removing) == ((1, 2), ())
    ordered.catch_up()
    ordered.look()
    assert ordered.read(tree.REASSIGN_PARTITIONS) is None


def test_orders_one_after_another_are_all_carried_out(ordered: Ordered) -> None:
    for replicas in ([1], [1], [1]):
        ordered.order(("trucks", 0, replicas))
        assert ordered.read(tree.REASSIGN_PARTITIONS) is None


@pytest.mark.parametrize("data", [b"nonsense", b"{}", b'{"version":1,"partitions":[]}', b""])
def test_an_order_that_says_nothing_is_taken_away(ordered: Ordered, data: bytes) -> None:
    ordered.write(Create(tree.REASSIGN_PARTITIONS, data))
    assert ordered.read(tree.REASSIGN_PARTITIONS) is None
    ordered.order(("trucks", 0, [2]))
    assert ordered.partition.adding == (2,)


def test_an_ordered_election_is_tried_and_its_node_goes(
    ordered: Ordered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordered.node.fetchers, "apply", lambda _old, _new: None)  # nobody is there to ask
    ordered.order(("trucks", 0, [2, 1]))
    ordered.catch_up()
    assert (ordered.partition.replicas, ordered.partition.leader) == ((2, 1), 1)
    ordered.write(Create(tree.PREFERRED_REPLICA_ELECTION, document(("trucks", 0, []), ("none", 3, []))))
    assert ordered.partition.leader == 2
    assert ordered.read(tree.PREFERRED_REPLICA_ELECTION) is None
    ordered.write(Create(tree.PREFERRED_REPLICA_ELECTION, b"nonsense"))
    assert ordered.read(tree.PREFERRED_REPLICA_ELECTION) is None


def test_an_order_that_was_there_before_the_controller_is_carried_out(ordered: Ordered) -> None:
    ordered.store.expire()
    ordered.other.submit([Create(tree.REASSIGN_PARTITIONS, document(("trucks", 0, [2])))])
    ordered.settle()
    assert ordered.partition.adding == (2,)
    ordered.catch_up()
    ordered.look()
    assert ordered.read(tree.REASSIGN_PARTITIONS) is None
