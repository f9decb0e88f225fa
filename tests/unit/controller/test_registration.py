"""How a node enters the cluster and takes office, and how the image is found again."""

from __future__ import annotations

import json

import pytest
from tests.unit.controller.support import NOW_MS, Cluster, broker, image_of

from barnabas.controller import tree
from barnabas.controller.producer_ids import PRODUCER_ID_MAX, allocate_producer_ids
from barnabas.controller.rebuild import image_from
from barnabas.controller.registration import claim_controller, enter
from barnabas.controller.znodes.cluster import decode_features
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import ClusterImage, ProducerIdBlock, ProducerIdsAllocated
from barnabas.ports import BadVersionError, Create, Delete, NodeExistsError, Put, Set


def test_a_lone_broker_is_its_own_controller_after_one_multi() -> None:
    cluster = Cluster()
    image = cluster.image
    registration = cluster.tree()[tree.broker_path(1)]
    assert (image.cluster_id, image.controller_id, image.controller_epoch) == ("cluster", 1, 1)
    assert image.brokers[1].endpoints == broker(1).endpoints
    assert image.brokers[1].epoch == registration.stat.czxid
    assert image.features == {"f": 1}
    assert set(tree.PERSISTENT_PATHS) <= set(cluster.tree())


def test_a_restart_keeps_the_cluster_and_raises_the_epochs() -> None:
    cluster = Cluster()
    before = cluster.image
    cluster.store.expire()
    cluster.store.events()
    again = enter(cluster.tree().values(), broker(1), cluster_id="other", features={}, now_ms=NOW_MS)
    cluster.submit(*again)
    after = cluster.rebuilt()
    assert after.cluster_id == before.cluster_id
    assert after.controller_epoch == before.controller_epoch + 1
    assert after.controller_epoch_version > before.controller_epoch_version
    assert after.brokers[1].epoch > before.brokers[1].epoch


def test_the_office_is_held_by_one() -> None:
    cluster = Cluster()
    with pytest.raises(NodeExistsError):
        cluster.submit(*claim_controller(cluster.tree(), 2, NOW_MS))


def test_a_claim_that_read_an_older_epoch_is_refused() -> None:
    cluster = Cluster()
    late = claim_controller(cluster.tree(), 2, NOW_MS)
    cluster.submit(Delete(tree.CONTROLLER))
    cluster.submit(*claim_controller(cluster.tree(), 3, NOW_MS))
    cluster.submit(Delete(tree.CONTROLLER))
    with pytest.raises(BadVersionError):
        cluster.submit(*late)


def test_an_epoch_that_a_tool_spoiled_still_grows() -> None:
    cluster = Cluster()
    cluster.submit(Delete(tree.CONTROLLER))
    cluster.submit(*claim_controller(cluster.tree(), 1, NOW_MS))
    used = cluster.rebuilt().controller_epoch
    cluster.submit(Delete(tree.CONTROLLER))
    cluster.submit(Set(tree.CONTROLLER_EPOCH, b"garbage"))
    cluster.submit(*claim_controller(cluster.tree(), 1, NOW_MS))
    assert cluster.rebuilt().controller_epoch > used


# --- producer ids ---


def test_blocks_of_producer_ids_follow_each_other_and_survive() -> None:
    cluster = Cluster()
    epoch = cluster.image.brokers[1].epoch
    first = cluster.carry_out(allocate_producer_ids(cluster.image, 1, epoch))
    second = cluster.carry_out(allocate_producer_ids(cluster.image, 1, epoch))
    assert first == (ProducerIdBlock(1, 0, 999),)
    assert second == (ProducerIdBlock(1, 1000, 1999),)
    assert cluster.is_consistent()
    stored = cluster.tree()[tree.PRODUCER_ID_BLOCK].data
    assert json.loads(stored) == {"version": 1, "broker": 1, "block_start": "1000", "block_end": "1999"}


@pytest.mark.parametrize(
    ("broker_id", "epoch", "error"),
    [(2, 1, ErrorCode.BROKER_ID_NOT_REGISTERED), (1, 7, ErrorCode.STALE_BROKER_EPOCH)],
)
def test_only_a_registered_broker_of_this_epoch_gets_producer_ids(
    broker_id: int, epoch: int, error: ErrorCode
) -> None:
    with pytest.raises(ApiError) as refused:
        allocate_producer_ids(image_of(broker(1)), broker_id, epoch)
    assert refused.value.code is error


def test_producer_ids_end_where_a_long_ends() -> None:
    last = ProducerIdBlock(1, PRODUCER_ID_MAX - 1500, PRODUCER_ID_MAX - 501)
    image = image_of(broker(1)).apply([ProducerIdsAllocated(last)])
    with pytest.raises(ApiError, match="Exhausted all producerIds"):
        allocate_producer_ids(image, 1, 1)


# --- what a tool may leave ---


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/brokers/ids/9", b"not json"),
        ("/brokers/ids/x", b'{"version":1,"host":"h","port":1,"jmx_port":-1}'),
        ("/brokers/ids/9", b'{"endpoints":["ODD://h:1"],"version":4}'),
        ("/brokers/topics/bad", b"[]"),
        ("/brokers/topics/bad", b'{"partitions":{"1":[1]}}'),
        ("/brokers/topics/bad", b'{"partitions":{"0":[]}}'),
        ("/brokers/topics/bad", b'{"partitions":{"0":["x"]}}'),
        ("/brokers/topics/bad", b'{"partitions":{"0":[1]},"topic_id":"short"}'),
        ("/brokers/topics/not legal", b'{"partitions":{"0":[1]}}'),
        ("/config/topics/bad", b"{"),
        ("/latest_producer_id_block", b'{"broker":1}'),
        ("/feature", b'{"features":{"f":{}}}'),
        ("/cluster/id", b"7"),
    ],
)
def test_a_node_nobody_can_read_is_reported_and_left_out(path: str, data: bytes) -> None:
    cluster = Cluster()
    cluster.submit(Put(path, data))
    rebuilt = image_from(cluster.tree().values())
    assert [sentence.startswith(f"{path}: ") for sentence in rebuilt.unreadable] == [True]
    assert "bad" not in rebuilt.image.topics
    assert set(rebuilt.image.brokers) == {1}


def test_an_empty_tree_is_an_empty_image() -> None:
    rebuilt = image_from([], version=7)
    assert rebuilt.image == ClusterImage(version=7)
    assert rebuilt.unreadable == ()


def test_a_broker_registered_in_an_older_format_is_known() -> None:
    cluster = Cluster()
    old = b'{"jmx_port":9999,"host":"old.example","version":1,"port":9090,"timestamp":"1"}'
    cluster.submit(Create("/brokers/ids/9", old))
    assert cluster.rebuilt().brokers[9].endpoints["PLAINTEXT"][:2] == ("old.example", 9090)


def test_a_newer_version_finalises_what_it_brings_and_keeps_what_was_chosen() -> None:
    cluster = Cluster()
    again = enter(
        cluster.tree().values(), broker(1), cluster_id="other", features={"f": 9, "g": 2}, now_ms=NOW_MS
    )
    written = [write for write in again if isinstance(write, Set) and write.path == tree.FEATURE]
    assert [decode_features(write.path, write.value) for write in written] == [{"f": 1, "g": 2}]
