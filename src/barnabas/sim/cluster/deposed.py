"""Coordinators that have a successor and have not heard of it: they were stopped, or cut off.

Kafka's OffsetFetch names no leader epoch, so such a one answers with what it knows, as Kafka's does. It can
commit nothing: that takes the in-sync replicas.
"""

from __future__ import annotations

from barnabas.controller import tree
from barnabas.controller.znodes import topics as topic_nodes
from barnabas.coordination.hashing import partition_of
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.offset_fetch import OffsetFetchRequest
from barnabas.protocol.schema import Message
from barnabas.sim.cluster.cluster import Cluster
from barnabas.sim.cluster_events import DeposedAsked

_TOPIC = "__consumer_offsets"


def note_deposed(cluster: Cluster, client: str, broker_id: int, request: Message) -> None:
    """Write down that whoever is asked for offsets here will answer from the past."""
    machine = cluster.machines.get(broker_id)
    if not isinstance(request, OffsetFetchRequest) or machine is None or machine.life is None:
        return
    topic = machine.life.node.image.topics.get(_TOPIC)
    if topic is None:
        return
    known = topic.partitions[partition_of(request.groups[0].group_id, len(topic.partitions))]
    place = TopicPartition(_TOPIC, known.index)
    present_epoch = _present_epoch(cluster, place)
    if known.leader == broker_id and present_epoch is not None and known.leader_epoch < present_epoch:
        cluster.world.history.add(DeposedAsked(client, place, known.leader_epoch))


def _present_epoch(cluster: Cluster, place: TopicPartition) -> int | None:
    path = tree.state_path(*place)
    node = cluster.ensemble.home.tree.nodes.get(path)
    return None if node is None else topic_nodes.decode_state(path, node.value).leader_epoch
