"""One line to one leader: ask for every partition that follows it, append what comes, ask again.

One Fetch is under way at a time. What an answer brings is appended before the next question leaves, since
that one tells the leader that we have it. The next question mentions only partitions with news (KIP-227).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from barnabas.broker.replication.partition import Partition
from barnabas.broker.replication.replica_fetching.answers import Verdict, go_on_within, take
from barnabas.broker.replication.replica_fetching.followed import Followed
from barnabas.broker.replication.replica_fetching.out_of_range import RangeSearch
from barnabas.broker.replication.replica_fetching.questions import VERSION, Questions
from barnabas.broker.replication.throttles import ReplicationThrottle
from barnabas.broker.timers import Timer
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.fetch import FetchResponse, PartitionData
from barnabas.protocol.schema import Message
from barnabas.replication.follower_session import Place

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.ReplicaFetcherThread")

_SESSION_LOST = frozenset({
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
})  # fmt: skip
# A question may wait at the leader for half a second. One that lacks partitions is given up after this; on a
# busy line it is answered sooner. Then everything has to be said again, so a wide line does it less often.
_PATIENCE_MS = 20
_PARTITIONS_PER_MS = 4


class LeaderLine:
    def __init__(self, node: Node, leader_id: int, throttle: ReplicationThrottle) -> None:
        self.leader_id = leader_id
        self._node = node
        self._throttle = throttle
        self._peer = node.peers.open(leader_id)
        self._questions = Questions(node, throttle, self._go)
        self._asked = 0  # how many questions there were
        self._asking = 0  # the number of the one under way; 0 for none
        self._soon: Timer | None = None
        self._not_given_up_before_ms = 0
        self._resting: Timer | None = None
        self._is_reached = True  # as far as we know

    def __len__(self) -> int:
        return len(self._questions.followed)

    # --- what is followed ----------------------------------------------------------------------------------

    def follow(self, partition: Partition) -> None:
        """From its log's end, in its present leader epoch."""
        if self._questions.add(partition):
            self._go_soon()

    def drop(self, place: Place) -> None:
        self._questions.drop(place)

    def refresh_throttles(self) -> None:
        self._questions.refresh_throttles()
        self._go_soon()

    def moved(self) -> None:
        """The leader began a new life, or is somewhere else now."""
        self._give_up()
        self._go_soon()

    def close(self) -> None:
        self._peer.close()
        self._questions.clear()
        for timer in (self._soon, self._resting):
            if timer is not None:
                self._node.timers.cancel(timer)

    # --- asking --------------------------------------------------------------------------------------------

    def _go_soon(self) -> None:
        """Once everything has changed that changes now, and not while an answer is about to come."""
        if self._soon is None:
            due_ms = self._node.now_ms
            if self._asking:
                due_ms = max(due_ms + _PATIENCE_MS, self._not_given_up_before_ms)
            self._soon = self._node.timers.at(due_ms, self._now)

    def _now(self) -> None:
        self._soon = None
        if self._asking and self._questions.has_news:
            self._give_up()
        self._go()

    def _give_up(self) -> None:
        """Whatever the leader is about to say, we have something else to ask."""
        self._peer.close()
        self._peer = self._node.peers.open(self.leader_id)
        self._questions.session.begin_again()
        self._asking = 0
        pause_ms = max(_PATIENCE_MS, len(self) // _PARTITIONS_PER_MS)
        self._not_given_up_before_ms = self._node.now_ms + pause_ms

    def _go(self) -> None:
        if self._asking or self._resting is not None:
            return
        request = self._questions.next()
        if request is None:
            return
        self._asked += 1
        self._asking = asked = self._asked

        def answered(answer: Message) -> None:
            if asked == self._asking:
                assert isinstance(answer, FetchResponse)
                self._asking = 0
                self._is_reached = True
                self._answered(answer)
                self._go()

        def failed() -> None:
            if asked == self._asking:  # the peer has made the pause that this needs
                self._asking = 0
                self._lost()
                self._go()

        timeout_ms = self._node.settings.integer("replica.socket.timeout.ms")
        self._peer.ask(request, VERSION, answered, failed, timeout_ms)

    def _lost(self) -> None:
        """Said once: it is tried again several times a second."""
        if self._is_reached:
            log.warning(
                "Broker %d, which leads %d partitions here, does not answer", self.leader_id, len(self)
            )
        self._is_reached = False
        self._questions.session.begin_again()

    def _rest(self) -> None:
        def rested() -> None:
            self._resting = None
            self._go()

        due_ms = self._node.now_ms + self._node.settings.integer("replica.fetch.backoff.ms")
        self._resting = self._node.timers.at(due_ms, rested)

    # --- being answered ------------------------------------------------------------------------------------

    def _answered(self, answer: FetchResponse) -> None:
        session = self._questions.session
        if answer.error_code != ErrorCode.NONE:
            surprising = answer.error_code not in _SESSION_LOST or not session.is_incremental
            session.forgotten()
            if surprising:
                log.warning("Broker %d answers a fetch with error %d", self.leader_id, answer.error_code)
                self._rest()
            return
        session.answered(answer.session_id)
        for topic in answer.responses:
            for data in topic.partitions:
                self._take((topic.topic_id, data.partition_index), data)

    def _take(self, place: Place, data: PartitionData) -> None:
        questions = self._questions
        followed, asked = questions.followed.get(place), questions.session.known.get(place)
        if followed is None or asked is None:
            return  # no longer
        if followed.is_throttled and data.records:
            self._throttle.record(len(data.records))
        self._follow_up(followed, take(followed, asked, data))

    def _follow_up(self, followed: Followed, verdict: Verdict) -> None:
        if verdict is Verdict.PAUSE:
            self._pause(followed)
        elif verdict is Verdict.SEARCH:
            self._search(followed)
        elif verdict is Verdict.STOP:
            self._questions.drop(followed.place)
        else:
            self._questions.news[followed.place] = None

    def _pause(self, followed: Followed) -> None:
        longest_ms = self._node.settings.integer("replica.fetch.backoff.ms")
        self._questions.hold(followed, self._node.now_ms + followed.next_pause_ms(longest_ms))

    def _search(self, followed: Followed) -> None:
        """The leader has nothing at our end. The partition waits for as long as this takes, the others do
        not."""
        questions = self._questions
        questions.hold(followed)

        def found(start_offset: int, end_offset: int) -> None:
            if questions.release(followed):
                self._follow_up(followed, go_on_within(followed, start_offset, end_offset))
                self._go()

        def failed(reason: str) -> None:
            if questions.release(followed):
                followed.complain(logging.WARNING, reason)
                self._pause(followed)

        RangeSearch(self._node, self.leader_id, followed, found, failed).begin()
