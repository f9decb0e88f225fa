"""Who fetches, and what that means: how far it may read, from whom, and what its fetch tells us.

A consumer reads what is committed: from the leader, or, since Fetch v11, from whichever replica it asks
(KIP-392). A follower reads to the end of its leader's log, and its fetch says how far it has come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from barnabas.broker.replication.partition import NO_EPOCH, Partition
from barnabas.broker.replication.replica_choice import NO_REPLICA
from barnabas.log.log import Log
from barnabas.protocol.messages.fetch import FetchPartition, FetchRequest
from barnabas.replication.leader import Position

if TYPE_CHECKING:
    from barnabas.broker.dispatch import Context
    from barnabas.broker.node import Node

_READ_COMMITTED = 1
_FROM_FOLLOWERS_SINCE = 11


class FetchingClient(NamedTuple):
    """What a choice of replica may depend on."""

    rack_id: str
    listener: str


class ConsumerReader:
    __slots__ = ("_choose", "_may_ask_followers", "_request", "_session", "reads_committed")
    is_replica = False

    def __init__(self, node: Node, context: Context, request: FetchRequest) -> None:
        self.reads_committed = request.isolation_level == _READ_COMMITTED
        self._may_ask_followers = context.version >= _FROM_FOLLOWERS_SINCE
        self._choose = node.choose_replica if request.rack_id else None
        self._request = request
        self._session = context.session

    def log_of(self, partition: Partition, asked: FetchPartition) -> Log:
        """ApiError unless this fetch may be served here."""
        epoch = max(asked.current_leader_epoch, NO_EPOCH)
        if not self._may_ask_followers:
            return partition.leader_log(epoch)
        log = partition.held_log()
        partition.check_epoch(epoch)
        return log

    def upper_offset(self, log: Log) -> int:
        return log.last_stable_offset if self.reads_committed else log.high_watermark

    def is_held_back(self, _partition: Partition) -> bool:
        return False

    def stands_at(self, partition: Partition, asked: FetchPartition) -> None: ...

    def was_given(self, partition: Partition, size: int) -> None: ...

    def better_replica(self, partition: Partition, asked: FetchPartition) -> int:
        if self._choose is None or not partition.is_leader:
            return NO_REPLICA
        client = FetchingClient(self._request.rack_id, self._session.listener)
        return self._choose(partition, asked.fetch_offset, client)


class ReplicaReader:
    __slots__ = ("_throttle", "broker_epoch", "broker_id")
    is_replica = True
    reads_committed = False

    def __init__(self, node: Node, broker_id: int, broker_epoch: int) -> None:
        self._throttle = node.leader_throttle
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch

    def log_of(self, partition: Partition, asked: FetchPartition) -> Log:
        epoch = max(asked.current_leader_epoch, NO_EPOCH)
        log = partition.leader_log(epoch)
        partition.check_follower(self.broker_id, self.broker_epoch, epoch)
        return log

    def upper_offset(self, log: Log) -> int:
        return log.log_end_offset

    def is_held_back(self, partition: Partition) -> bool:
        """Replicas in sync are never throttled: they would fall out."""
        throttle = self._throttle
        return (
            throttle.concerns(partition)
            and self.broker_id not in partition.image.isr
            and throttle.is_exceeded
        )

    def stands_at(self, partition: Partition, asked: FetchPartition) -> None:
        """A fetch that names no epoch does not say whose log it follows, and proves nothing."""
        if asked.current_leader_epoch == partition.image.leader_epoch:
            position = Position(asked.fetch_offset, asked.log_start_offset, self.broker_epoch)
            partition.follower_fetched(self.broker_id, position)

    def was_given(self, partition: Partition, size: int) -> None:
        if self._throttle.concerns(partition):
            self._throttle.record(size)

    def better_replica(self, _partition: Partition, _asked: FetchPartition) -> int:
        return NO_REPLICA


Reader: TypeAlias = ConsumerReader | ReplicaReader


def reader_of(node: Node, context: Context, request: FetchRequest) -> Reader:
    """Up to v14 a follower says who it is, since v15 also in which life (KIP-903)."""
    state = request.replica_state
    if state is not None and state.replica_id >= 0:
        return ReplicaReader(node, state.replica_id, state.replica_epoch)
    if request.replica_id >= 0:
        return ReplicaReader(node, request.replica_id, -1)
    return ConsumerReader(node, context, request)
