"""A member of a consumer group, whichever protocol it speaks: what the application sees of it.

The application calls `beat` now and then. What must be given up is told there, and may be committed before
`settle` says so to the coordinator; `settle` returns when the member has a place in the group again.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)
from barnabas.sim.history import (
    CommitAcknowledged,
    CommitAsked,
    CommitRefused,
    OffsetsAsked,
    OffsetsRead,
)
from barnabas.sim.scripts import LostError, Script, ask, insist, rest
from barnabas.sim.world import World

GROUP, TRANSACTION = 0, 1  # key types of FindCoordinator
PAUSE_MS = 20
_FIND_VERSION = 4
_COMMIT_VERSION = 9
_FETCH_VERSION = 9

COORDINATOR_BUSY = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
)

Places = frozenset[TopicPartition]
NO_PLACES: Places = frozenset()


@dataclass(frozen=True, slots=True)
class Membership:
    """What a member is told when it is hired."""

    group: str
    places: Places  # every partition of the topics it subscribes to
    session_timeout_ms: int
    rebalance_timeout_ms: int
    static: bool = False  # members have instance ids, and go without a word

    @property
    def topics(self) -> list[str]:
        return sorted({place.topic for place in self.places})


@dataclass(frozen=True, slots=True)
class Change:
    """`revoked` may still be committed, `lost` not. Both empty and `settled`: go on."""

    settled: bool
    revoked: Places = NO_PLACES
    lost: Places = NO_PLACES


SETTLED = Change(settled=True)


def find_coordinator(key: str, key_type: int) -> Script[None]:
    while True:
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
        answer = yield from insist(FindCoordinatorResponse, request, _FIND_VERSION)
        if answer.coordinators[0].error_code == ErrorCode.NONE:
            return
        assert answer.coordinators[0].error_code in COORDINATOR_BUSY, answer.coordinators[0]
        yield from rest(PAUSE_MS)


class Member(abc.ABC):
    def __init__(self, world: World, membership: Membership, name: str) -> None:
        self.world = world
        self.membership = membership
        self.group = membership.group
        self.name = name
        self.member_id = ""
        self.instance_id = name.rpartition(".")[0] if membership.static else None  # as at its desk before
        self.generation = -1  # member epoch, in the new protocol
        self.fenced = False  # another one has our instance id
        self.owned: Places = NO_PLACES
        self.epochs: dict[TopicPartition, int] = {}  # of the leaders that wrote what was read last

    @abc.abstractmethod
    def beat(self) -> Script[Change]: ...

    @abc.abstractmethod
    def settle(self) -> Script[None]:
        """After a change that is not `settled`."""

    @abc.abstractmethod
    def leave(self) -> Script[None]: ...

    # --- offsets -------------------------------------------------------------------------------------------

    def committed(self, places: Places) -> Script[Mapping[TopicPartition, int] | None]:
        """None: not now."""
        asked = OffsetsAsked(self.group, self.name, tuple(sorted(places)))
        self.world.history.add(asked)
        wanted = [
            OffsetFetchRequestTopics(name=topic, partition_indexes=list(indexes))
            for topic, indexes in by_topic(places)
        ]
        group = OffsetFetchRequestGroup(self.group, *self._fetches_as(), topics=wanted)
        try:
            request = OffsetFetchRequest(groups=[group], require_stable=True)
            answer = yield from ask(OffsetFetchResponse, request, _FETCH_VERSION)
        except LostError:
            return None
        found = _offsets_of(answer.groups[0])
        if found is None:
            yield from rest(PAUSE_MS)
            return None
        self.world.history.add(OffsetsRead(asked, tuple(sorted(found.items()))))
        return found

    def _fetches_as(self) -> tuple[str | None, int]:
        """Member id and epoch: only the new protocol's members say them."""
        return None, -1

    def position(self, place: TopicPartition, offsets: Mapping[TopicPartition, int]) -> tuple[int, int]:
        """An offset and the leader epoch of what lies before it: whoever goes on from there asks nobody who
        has not heard of that leader (KIP-320)."""
        return offsets[place], self.epochs.get(place, -1)

    def commit(self, offsets: Mapping[TopicPartition, int]) -> Script[bool]:
        asked = CommitAsked(self.group, self.name, self.generation, tuple(sorted(offsets.items())))
        self.world.history.add(asked)
        try:
            answer = yield from ask(OffsetCommitResponse, self._commit_request(offsets), _COMMIT_VERSION)
        except LostError:
            return False
        codes = {one.error_code for topic in answer.topics for one in topic.partitions}
        if codes == {ErrorCode.NONE}:
            self.world.history.add(CommitAcknowledged(asked))
            return True
        assert ErrorCode.NONE not in codes, "one commit, one answer"
        self.fenced = self.fenced or ErrorCode.FENCED_INSTANCE_ID in codes
        self.world.history.add(CommitRefused(asked, max(codes)))
        return False

    def _commit_request(self, offsets: Mapping[TopicPartition, int]) -> OffsetCommitRequest:
        topics = [
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(index, *self.position(TopicPartition(topic, index), offsets))
                    for index in indexes
                ],
            )
            for topic, indexes in by_topic(offsets)
        ]
        return OffsetCommitRequest(
            self.group, self.generation, self.member_id, self.instance_id, topics=topics
        )


def by_topic(places: Iterable[TopicPartition]) -> list[tuple[str, list[int]]]:
    topics: dict[str, list[int]] = {}
    for place in sorted(places):
        topics.setdefault(place.topic, []).append(place.partition)
    return list(topics.items())


def _offsets_of(group: OffsetFetchResponseGroup) -> dict[TopicPartition, int] | None:
    if group.error_code:
        return None
    found: dict[TopicPartition, int] = {}
    for topic in group.topics:
        for one in topic.partitions:
            if one.error_code:
                return None  # UNSTABLE_OFFSET_COMMIT: a transaction is not yet decided
            found[TopicPartition(topic.name, one.partition_index)] = one.committed_offset
    return found
