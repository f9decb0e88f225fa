"""How a client meets a cluster: one `Wire` to its owner, a connection to each broker that it needs below.

It does what a client library does: finds leaders through Metadata and coordinators through FindCoordinator,
sends each what is its, puts the answers in the order of the questions, and looks again when it is told that
it came to the wrong broker. When one connection breaks, all are dropped: its owner begins again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol import codec
from barnabas.protocol.codec import RequestHeader
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from barnabas.protocol.messages.offset_fetch import OffsetFetchResponse
from barnabas.protocol.messages.produce import ProduceRequest
from barnabas.protocol.schema import Message
from barnabas.sim.cluster import routing
from barnabas.sim.cluster.cluster import Cluster
from barnabas.sim.cluster.deposed import note_deposed
from barnabas.sim.cluster.epochs import KnownEpochs
from barnabas.sim.cluster.nearby import Nearby
from barnabas.sim.cluster.routing import Anybody, Everybody, Leader, TheCoordinator, TheLeaders
from barnabas.sim.network import Asker, Connection

_METADATA_VERSION = 12
_FIND_VERSION = 4
_PAUSE_MS = (20, 80)  # before it looks again

Heard = Callable[[bytes], None]


class ClusterDoor:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._epochs: dict[Asker, KnownEpochs] = {}

    def connect(self, peer: Asker) -> ClusterWire | None:
        epochs = self._epochs.setdefault(peer, KnownEpochs())
        return ClusterWire(self._cluster, peer, epochs) if self._cluster.serving else None


class _Leg:
    """One connection to one broker."""

    def __init__(self, wire: ClusterWire) -> None:
        self._wire = wire
        self.expected: deque[Heard] = deque()
        self.connection: Connection | None = None

    def received(self, frame: bytes) -> None:
        self.expected.popleft()(frame)

    def disconnected(self) -> None:
        self._wire.leg_lost()


class _Question:
    __slots__ = ("answers", "header", "missing", "request")

    def __init__(self, header: RequestHeader, request: Message) -> None:
        self.header = header
        self.request = request
        self.answers: list[Message] = []
        self.missing = 0

    @property
    def has_answer(self) -> bool:
        return not (isinstance(self.request, ProduceRequest) and self.request.acks == 0)


class ClusterWire:
    def __init__(self, cluster: Cluster, peer: Asker, epochs: KnownEpochs) -> None:
        self._epochs = epochs
        self._cluster = cluster
        self._world = cluster.world
        self._peer = peer
        self.held = False
        self._over = False
        self._legs: dict[int, _Leg] = {}
        self._brokers = list(cluster.machines)
        self._leaders: dict[TopicPartition, Leader | None] = {}
        self._coordinators: dict[TheCoordinator, int] = {}
        self._nearby = Nearby(self._world.random)
        self._unsent: deque[_Question] = deque()
        self._unanswered: deque[_Question] = deque()
        self._looking = False
        self._must_pause = False

    # --- Wire ----------------------------------------------------------------------------------------------

    def ask(self, header: RequestHeader, request: Message) -> None:
        if not self._over:
            self._unsent.append(_Question(header, request))
            self._go_on()

    def close(self) -> None:
        self._end(lambda connection: connection.close())

    def stray(self, most_ms: int) -> None:
        self._end(lambda connection: connection.stray(most_ms))

    def _end(self, how: Callable[[Connection], None]) -> None:
        self._over = True
        for leg in self._legs.values():
            if leg.connection is not None:
                how(leg.connection)

    def leg_lost(self) -> None:
        if not self._over:
            self.close()
            self._peer.disconnected()

    # --- sending -------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        """One after the other: what goes to the same broker keeps its order."""
        while self._unsent and not (self._looking or self._over):
            question = self._unsent[0]
            shares = self._shares(question)
            if shares is None:
                return
            self._unsent.popleft()
            if question.has_answer:
                self._unanswered.append(question)
            question.missing += len(shares)
            for broker_id, request in shares.items():
                self._put(question, broker_id, request)

    def _shares(self, question: _Question) -> dict[int, Message] | None:
        """None: not before it is known who is to be asked."""
        request = question.request
        match routing.addressee_of(request):
            case Anybody():
                return {self._somebody(): request}
            case Everybody():
                return dict.fromkeys(self._brokers, request)
            case TheCoordinator() as coordinator:
                if coordinator not in self._coordinators:
                    self._look(lambda: self._find(coordinator))
                    return None
                return {self._coordinators[coordinator]: request}
            case TheLeaders(places):
                unknown = {place.topic for place in places if place not in self._leaders}
                if unknown:
                    self._look(lambda: self._ask_for_leaders(unknown))
                    return None
                return self._by_leader(question)

    def _by_leader(self, question: _Question) -> dict[int, Message]:
        shares, orphans = routing.split(question.request, self._leaders, self._nearby.of(question.request))
        if (orphans or not shares) and question.has_answer:
            question.missing += 1
            answer = routing.answer_for_orphans(question.request, orphans)
            delay_ms = self._world.random.between(*_PAUSE_MS)
            self._world.after(delay_ms, lambda: self._answered(question, answer))
        return shares

    def _put(self, question: _Question, broker_id: int, request: Message) -> None:
        header = question.header

        def heard(frame: bytes) -> None:
            _, answer = codec.read_response(header.api_key, header.version, frame)
            self._nearby.heard(broker_id, answer)
            self._answered(question, answer)

        note_deposed(self._cluster, header.client_id or "", broker_id, request)
        self._say(broker_id, header, request, heard if question.has_answer else None)

    def _say(self, broker_id: int, header: RequestHeader, request: Message, heard: Heard | None) -> None:
        leg = self._leg(broker_id)
        if leg is None or leg.connection is None:
            self._world.soon(1, self.leg_lost)
            return
        if heard is not None:
            leg.expected.append(heard)
        leg.connection.held = self.held
        leg.connection.ask(header, request)

    def _leg(self, broker_id: int) -> _Leg | None:
        leg = self._legs.get(broker_id)
        if leg is None:
            leg = self._legs[broker_id] = _Leg(self)
            leg.connection = self._cluster.call(self._peer, broker_id, leg)
        return leg

    def _somebody(self) -> int:
        """Whom it knows already, as long as nothing points elsewhere; else anybody who listens."""
        known = [broker_id for broker_id, leg in self._legs.items() if leg.connection is not None]
        if known and not self._must_pause:
            return known[0]
        serving = [machine.broker_id for machine in self._cluster.serving]
        return self._world.random.pick(serving or self._brokers)

    # --- looking -------------------------------------------------------------------------------------------

    def _look(self, how: Callable[[], None]) -> None:
        self._looking = True
        if not self._must_pause:
            how()
            return
        self._world.after(self._world.random.between(*_PAUSE_MS), lambda: None if self._over else how())

    def _look_again(self) -> None:
        self._looking = False
        self._must_pause = True
        self._go_on()

    def _found(self) -> None:
        self._looking = False
        self._must_pause = False
        self._go_on()

    def _ask_for_leaders(self, topics: Iterable[str]) -> None:
        wanted = [MetadataRequestTopic(name=topic) for topic in sorted(topics)]
        request = MetadataRequest(wanted, allow_auto_topic_creation=False)

        def heard(frame: bytes) -> None:
            _, answer = codec.read_response(request.API_KEY, _METADATA_VERSION, frame)
            assert isinstance(answer, MetadataResponse)
            self._learn(answer)

        self._inquire(request, _METADATA_VERSION, heard)

    def _learn(self, answer: MetadataResponse) -> None:
        is_whole = all(topic.partitions and not topic.error_code for topic in answer.topics)
        if not is_whole or self._epochs.is_old(answer):
            self._look_again()
            return
        for topic in answer.topics:
            for partition in topic.partitions:
                place = TopicPartition(topic.name or "", partition.partition_index)
                found = Leader(partition.leader_id, partition.leader_epoch)
                self._leaders[place] = found if found.broker_id in self._cluster.machines else None
        self._found()

    def _find(self, coordinator: TheCoordinator) -> None:
        request = FindCoordinatorRequest(key_type=coordinator.kind, coordinator_keys=[coordinator.key])

        def heard(frame: bytes) -> None:
            _, answer = codec.read_response(request.API_KEY, _FIND_VERSION, frame)
            assert isinstance(answer, FindCoordinatorResponse)
            found = answer.coordinators[0]
            if found.error_code == ErrorCode.NONE:
                self._coordinators[coordinator] = found.node_id
                self._found()
            else:
                self._look_again()

        self._inquire(request, _FIND_VERSION, heard)

    def _inquire(self, request: Message, version: int, heard: Heard) -> None:
        header = RequestHeader(request.API_KEY, version, 0, "inquiry")
        self._say(self._somebody(), header, request, heard)

    # --- answers -------------------------------------------------------------------------------------------

    def _answered(self, question: _Question, answer: Message) -> None:
        if self._over:
            return
        question.missing -= 1
        question.answers.append(answer)
        is_news = isinstance(answer, OffsetFetchResponse) and self._epochs.is_news(answer, self._leaders)
        if is_news or routing.points_elsewhere(answer):
            self._leaders.clear()
            self._coordinators.clear()
            self._must_pause = True
        while self._unanswered and not self._unanswered[0].missing and not self._over:
            self._hand_over(self._unanswered.popleft())

    def _hand_over(self, question: _Question) -> None:
        self._peer.heard(question.header.correlation_id, routing.merge(question.answers))
