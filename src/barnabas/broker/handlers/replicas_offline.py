"""ReplicasOffline v0: a broker's disk has failed, and others lead what was on it. Private to brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.cluster.controller_host import code_of
from barnabas.broker.dispatch import Context
from barnabas.broker.topic_config import election_rules
from barnabas.controller.decision import Decision
from barnabas.controller.isr import is_stale
from barnabas.controller.liveness import lose_replicas
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.image import ClusterImage
from barnabas.ports import StoreError
from barnabas.protocol.private import ReplicasOfflineRequest, ReplicasOfflineResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: ReplicasOfflineRequest) -> ReplicasOfflineResponse | None:
    if not node.controller.is_active:
        return ReplicasOfflineResponse(ErrorCode.NOT_CONTROLLER)

    def decide(image: ClusterImage) -> Decision[TopicPartition]:
        if is_stale(image, request.broker_id, request.broker_epoch):
            return Decision(())  # its next life tells again
        places = [
            TopicPartition(name, index)
            for topic in request.topics
            if (name := image.topic_names.get(topic.topic_id)) is not None
            for index in topic.partitions
        ]
        return lose_replicas(image, request.broker_id, places, election_rules(node.settings, image))

    def done(_changed: tuple[TopicPartition, ...], error: StoreError | None) -> None:
        context.reply(ReplicasOfflineResponse(ErrorCode.NONE if error is None else code_of(error)))

    node.controller.decide(decide, done)
    return None
