"""The same clients and the same checkers on a real broker process, on sockets, with kill -9 in between.

What holds here and in the simulation is no artefact of either.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.simulation.over_sockets import SocketStage

from barnabas.model.ids import TopicPartition
from barnabas.sim.admins import Creator, Topic
from barnabas.sim.auditors import GroupAuditor, OffsetAuditor, OffsetWatcher, TransactionAuditor
from barnabas.sim.checkers import Checker, CreatedTopicsExist, Facts
from barnabas.sim.clients import Client
from barnabas.sim.consumers import Consumer
from barnabas.sim.coordination_promises import EVERYBODY, OUTPUT
from barnabas.sim.crews import Crew, GroupCrew, GroupProtocol, Hiring, Readers, Version, Workers, Writers
from barnabas.sim.producers import Producer, Style
from barnabas.sim.transaction_checkers import ExactlyOnce
from barnabas.sim.world import World
from barnabas.testing import Broker

_TIMES = (2000, 2000)  # session and rebalance timeout
_PATIENCE_S = 120.0
_TROUBLE_MS = 4000
_SETTINGS = {
    "offsets.topic.num.partitions": 2,
    "transaction.state.log.num.partitions": 2,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 100,
    "group.min.session.timeout.ms": 100,
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.min.session.timeout.ms": 100,
    "group.consumer.session.timeout.ms": _TIMES[0],
    "group.consumer.min.heartbeat.interval.ms": 10,
    "group.consumer.heartbeat.interval.ms": 100,
    "group.consumer.assignment.interval.ms": 0,
}


@dataclass
class _Story:
    broker: Broker
    hirings: list[Hiring]
    topics: list[Topic]
    producers: list[Client] = field(default_factory=list)
    crews: list[Crew] = field(default_factory=list)
    watchers: list[Client] = field(default_factory=list)

    def play(self, seed: int) -> Facts:
        self.world = World(seed)
        self.stage = SocketStage(self.world, (self.broker.host, self.broker.port))
        self.places = [TopicPartition(t.name, at) for t in self.topics for at in range(t.partitions)]
        self._wait_for([Creator(self.world, self.stage, self.topics, lambda: None)])
        self._hire()
        self._kill_now_and_then()
        self._come_to_rest()
        self.broker.kill()
        self.broker.start()
        self._read_everything()
        self.stage.close()
        return Facts(self.world.history)

    def _hire(self) -> None:
        world, stage = self.world, self.stage
        inputs = [place for place in self.places if place.topic != OUTPUT]
        self.producers = [Producer(world, stage, "producer", inputs, Style(batches=20, think_ms=900))]
        self.crews = [
            hiring.hire(world, stage, inputs if isinstance(hiring, Writers) else self.places)
            for hiring in self.hirings
        ]
        self.watchers = [
            Consumer(world, stage, "follower", self.places),
            Consumer(world, stage, "stable-follower", self.places, read_committed=True),
            OffsetWatcher(world, stage, "offset-watcher", self._groups),
        ]
        for client in (*self.producers, *self.watchers):
            client.begin()
        for crew in self.crews:
            crew.begin()

    @property
    def _group_crews(self) -> list[GroupCrew]:
        return [crew for crew in self.crews if isinstance(crew, GroupCrew)]

    @property
    def _groups(self) -> dict[str, frozenset[TopicPartition]]:
        return {crew.membership.group: crew.membership.places for crew in self._group_crews}

    def _kill_now_and_then(self) -> None:
        end_ms = self.world.now_ms + _TROUBLE_MS
        while self.world.now_ms < end_ms:
            until_ms = self.world.now_ms + self.world.random.between(300, 1500)
            self.stage.run_until(lambda until_ms=until_ms: self.world.now_ms >= until_ms, _PATIENCE_S)  # type: ignore[misc]
            self.broker.kill()
            self.broker.start()

    def _come_to_rest(self) -> None:
        for crew in self.crews:
            crew.heal()
        self._wait(lambda: all(one.finished for one in self.producers))
        writers = [crew for crew in self.crews if not isinstance(crew, GroupCrew)]
        self._wait(lambda: all(crew.is_done(0) for crew in writers))
        since_ms = self.world.now_ms
        self._wait(lambda: all(crew.is_done(since_ms) for crew in self._group_crews))
        self._wait_for([GroupAuditor(self.world, self.stage, crew) for crew in self._group_crews])
        for watcher in self.watchers:
            watcher.finish()
        for crew in self.crews:
            crew.finish()

    def _read_everything(self) -> None:
        self._wait_for(
            [
                Consumer(self.world, self.stage, "reader", self.places, final=True),
                Consumer(
                    self.world, self.stage, "stable-reader", self.places, final=True, read_committed=True
                ),
                OffsetAuditor(self.world, self.stage, "offset-auditor", self._groups),
                TransactionAuditor(self.world, self.stage),
            ]
        )

    def _wait_for(self, clients: list[Client]) -> None:
        for client in clients:
            client.begin()
        self._wait(lambda: all(client.finished for client in clients))

    def _wait(self, reached: object) -> None:
        assert callable(reached)
        assert self.stage.run_until(reached, _PATIENCE_S), "it does not come to an end"


def _everybody() -> list[Hiring]:
    """Readers and workers of both protocols have what producers of both versions write, all at once."""
    session_timeout_ms, rebalance_timeout_ms = _TIMES
    readers = [
        Readers(f"readers-{protocol.value}", protocol, 2, True, session_timeout_ms, rebalance_timeout_ms)
        for protocol in GroupProtocol
    ]
    writers = [Writers(f"writer-{version.value}", version, rivals=2, transactions=20) for version in Version]
    return [*readers, *writers, Workers("workers", GroupProtocol.CONSUMER, 2, Version.TWO, OUTPUT, *_TIMES)]


def test_what_holds_in_the_simulation_holds_on_a_real_broker_that_is_killed() -> None:
    checkers: list[Checker] = [one for one in EVERYBODY if not isinstance(one, CreatedTopicsExist)]
    with Broker(_SETTINGS) as broker:
        facts = _Story(broker, _everybody(), [Topic("input", 3), Topic(OUTPUT, 2)]).play(seed=1)
    for checker in (*checkers, ExactlyOnce(OUTPUT)):
        assert [*checker.check(facts)] == [], type(checker).__name__
