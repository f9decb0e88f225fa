"""Leaders' proposals to change who is in sync, on their way to the controller (AlterPartition, KIP-497).

One request at a time carries whatever is proposed by then, and each partition has one proposal at the most.
An answer changes nothing here: a proposal is decided when the image says so, and until then it is sent again.
The one exception is a proposal that the controller has refused for what it is.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from barnabas.broker.replication.partition import Partition
from barnabas.broker.timers import Timer
from barnabas.model.errors import ErrorCode
from barnabas.model.settings.broker import BrokerSettings
from barnabas.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
    PartitionData,
    ResponsePartitionData,
    TopicData,
)
from barnabas.protocol.schema import Message
from barnabas.replication.leader import Committed, Leading

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.AlterPartitionManager")

_VERSION = 3
_RETRY_MS = 50
_AGAIN_MS = 1_000  # an answer came, and the image that shows it has not
_UNKNOWN_EPOCH = -1
_REFUSED = frozenset(
    {ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.INVALID_REQUEST}
)


class IsrKeeper:
    def __init__(self, node: Node) -> None:
        self._node = node
        self.lag_ms_max = 0
        self._proposing: dict[Partition, None] = {}
        self._asked: set[Partition] | None = None  # None while no request is under way
        self._timer: Timer | None = None
        self._is_watching = False
        self._adopt(node.settings)
        node.on_settings.append(self._adopt)

    def _adopt(self, settings: BrokerSettings) -> None:
        self.lag_ms_max = settings.integer("replica.lag.time.max.ms")

    # --- who is in sync ------------------------------------------------------------------------------------

    def may_join(self, broker_id: int, broker_epoch: int) -> bool:
        """Only a broker that the controller would take, and in its present life (KIP-903)."""
        image = self._node.image
        return image.may_lead(broker_id) and image.brokers[broker_id].epoch == broker_epoch

    def watch(self) -> None:
        """From now on somebody follows us: look after laggards. Half the time is how late they are seen."""
        if not self._is_watching:
            self._is_watching = True
            self._look_again()

    def _look(self) -> None:
        for partition in tuple(self._node.replicas):
            if partition.leading is not None:
                partition.drop_laggards()
                partition.review()
        self._look_again()

    def _look_again(self) -> None:
        node = self._node
        node.timers.at(node.now_ms + max(self.lag_ms_max // 2, 1), self._look)

    # --- proposals -----------------------------------------------------------------------------------------

    def propose(self, partition: Partition) -> None:
        """Its `leading.in_sync` holds what is proposed."""
        self._proposing[partition] = None
        self._send_in(0)

    def _send_in(self, delay_ms: int) -> None:
        """Not at once: what happens in the same turn goes along."""
        node = self._node
        due_ms = node.now_ms + delay_ms
        if self._asked is not None or (self._timer is not None and self._timer.deadline_ms <= due_ms):
            return
        if self._timer is not None:
            node.timers.cancel(self._timer)
        self._timer = node.timers.at(due_ms, self._send)

    def _send(self) -> None:
        self._timer = None
        for partition in [each for each in self._proposing if _proposal(each) is None]:
            del self._proposing[partition]
        if not self._proposing:
            return
        self._asked = set(self._proposing)
        self._node.controller_link.ask(self._request(), _VERSION, self._answered, self._failed)

    def _request(self) -> AlterPartitionRequest:
        topics: dict[bytes, list[PartitionData]] = {}
        for partition in self._proposing:
            rows = topics.setdefault(partition.topic_id, [])
            rows.append(self._row(partition))
        return AlterPartitionRequest(
            self._node.broker_id,
            self._epoch_of(self._node.broker_id),
            [TopicData(topic_id, rows) for topic_id, rows in topics.items()],
        )

    def _row(self, partition: Partition) -> PartitionData:
        leading = _proposal(partition)
        assert leading is not None
        assert not isinstance(leading.in_sync, Committed)
        epochs = {broker_id: each.broker_epoch for broker_id, each in leading.followers.items()}
        proposed = [each for each in partition.image.replicas if each in leading.in_sync.proposed]
        return PartitionData(
            partition.index,
            leading.leader_epoch,
            [BrokerState(each, epochs.get(each, self._epoch_of(each))) for each in proposed],
            partition_epoch=leading.partition_epoch,
        )

    def _epoch_of(self, broker_id: int) -> int:
        broker = self._node.image.brokers.get(broker_id)
        return _UNKNOWN_EPOCH if broker is None else broker.epoch

    # --- answers -------------------------------------------------------------------------------------------

    def _answered(self, answer: Message) -> None:
        assert isinstance(answer, AlterPartitionResponse)
        asked, self._asked = self._asked or set(), None
        if answer.error_code != ErrorCode.NONE:
            log.warning("The controller answers AlterPartition with error %d", answer.error_code)
            self._send_in(_RETRY_MS)
            return
        for topic in answer.topics:
            for row in topic.partitions:
                self._judge(topic.topic_id, row)
        if self._proposing:
            self._send_in(_AGAIN_MS if self._proposing.keys() <= asked else 0)

    def _judge(self, topic_id: bytes, row: ResponsePartitionData) -> None:
        name = self._node.image.topic_names.get(topic_id)
        partition = None if name is None else self._node.replicas.find(name, row.partition_index)
        leading = None if partition is None else _proposal(partition)
        if leading is None or row.error_code not in _REFUSED:
            return
        assert partition is not None
        log.info("The controller refuses to change who is in sync in %r: error %d", partition, row.error_code)
        leading.refused()
        self._proposing.pop(partition, None)
        partition.recount()

    def _failed(self) -> None:
        self._asked = None
        self._send_in(_RETRY_MS)


def _proposal(partition: Partition) -> Leading | None:
    """What the partition still proposes: nothing once the image has decided it, or another leads."""
    leading = partition.leading
    return None if leading is None or isinstance(leading.in_sync, Committed) else leading
