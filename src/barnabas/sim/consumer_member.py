"""A member of the new protocol (KIP-848): one heartbeat does it all, and the coordinator assigns."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from barnabas.sim.history import Broke
from barnabas.sim.membership import (
    COORDINATOR_BUSY,
    GROUP,
    NO_PLACES,
    PAUSE_MS,
    SETTLED,
    Change,
    Member,
    Membership,
    Places,
    by_topic,
    find_coordinator,
)
from barnabas.sim.scripts import LostError, Script, ask, insist, rest
from barnabas.sim.world import World

_HEARTBEAT_VERSION = 1
_METADATA_VERSION = 12
_JOINS, _LEAVES, _LEAVES_FOR_NOW = 0, -1, -2
# The last: all who spoke the new protocol were given up, and the group is a classic one again.
_FENCED = (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND)


class ConsumerMember(Member):
    def __init__(self, world: World, membership: Membership, name: str) -> None:
        super().__init__(world, membership, name)
        self.member_id = f"{name}-{world.random.bytes(4).hex()}"
        self.generation = _JOINS
        self._topic_ids: Mapping[str, bytes] = {}
        self._target: Places = NO_PLACES
        self._tells_all = True  # after a broken connection or an error, say everything anew

    def beat(self) -> Script[Change]:
        if not self._topic_ids:
            yield from self._look_up_topics()
        try:
            answer = yield from ask(ConsumerGroupHeartbeatResponse, self._request(), _HEARTBEAT_VERSION)
        except LostError:
            self._tells_all = True
            yield from find_coordinator(self.group, GROUP)
            return SETTLED
        code = answer.error_code
        if code == ErrorCode.NONE:
            return self._take(answer)
        self._tells_all = True  # it may have been assigned something that it has not heard of
        self.fenced = self.fenced or code == ErrorCode.FENCED_INSTANCE_ID
        if code in COORDINATOR_BUSY:
            yield from find_coordinator(self.group, GROUP)
            yield from rest(PAUSE_MS)
            return SETTLED
        if code == ErrorCode.UNRELEASED_INSTANCE_ID:
            yield from rest(PAUSE_MS)
        elif code not in _FENCED and not self.fenced:
            self.world.history.add(Broke(f"{self.name}: heartbeat answered {ErrorCode(code).name}"))
            yield from rest(PAUSE_MS)
        lost, self.owned, self._target = self.owned, NO_PLACES, NO_PLACES
        self.generation = _JOINS
        return Change(settled=False, lost=lost)

    def _take(self, answer: ConsumerGroupHeartbeatResponse) -> Change:
        self._tells_all = False
        self.generation = answer.member_epoch
        if answer.assignment is None:
            return SETTLED
        names = {topic_id: name for name, topic_id in self._topic_ids.items()}
        self._target = frozenset(
            TopicPartition(names[topic.topic_id], index)
            for topic in answer.assignment.topic_partitions
            for index in topic.partitions
        )
        revoked = self.owned - self._target
        return Change(settled=self._target == self.owned, revoked=revoked)

    def settle(self) -> Script[None]:
        """What is gone is gone, what came is ours; the next heartbeat says so."""
        self.owned = self._target
        self._tells_all = True
        return
        yield

    def leave(self) -> Script[None]:
        epoch = _LEAVES if self.instance_id is None else _LEAVES_FOR_NOW
        request = _nothing_new(self.group, self.member_id, epoch)
        request.instance_id = self.instance_id
        try:
            yield from ask(ConsumerGroupHeartbeatResponse, request, _HEARTBEAT_VERSION)
        except LostError:
            return

    def _fetches_as(self) -> tuple[str | None, int]:
        return self.member_id, self.generation

    def _request(self) -> ConsumerGroupHeartbeatRequest:
        if self.generation != _JOINS and not self._tells_all:
            request = _nothing_new(self.group, self.member_id, self.generation)
            request.instance_id = self.instance_id
            return request
        owned = [
            TopicPartitions(self._topic_ids[topic], partitions) for topic, partitions in by_topic(self.owned)
        ]
        return ConsumerGroupHeartbeatRequest(
            self.group,
            self.member_id,
            self.generation,
            self.instance_id,
            rebalance_timeout_ms=self.membership.rebalance_timeout_ms,
            subscribed_topic_names=self.membership.topics,
            topic_partitions=owned,
        )

    def _look_up_topics(self) -> Script[None]:
        yield from find_coordinator(self.group, GROUP)
        topics = [MetadataRequestTopic(name=topic) for topic in self.membership.topics]
        answer = yield from insist(MetadataResponse, MetadataRequest(topics), _METADATA_VERSION)
        self._topic_ids = {topic.name or "": topic.topic_id for topic in answer.topics}


def _nothing_new(group: str, member_id: str, epoch: int) -> ConsumerGroupHeartbeatRequest:
    """No list is not an empty list, which would say that we own nothing."""
    return ConsumerGroupHeartbeatRequest(group, member_id, epoch, topic_partitions=None)
