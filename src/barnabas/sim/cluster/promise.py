"""What a promise of a cluster is, and what a seed makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from barnabas.sim.admins import Topic
from barnabas.sim.checkers import Checker
from barnabas.sim.cluster.kinds import ClusterKind
from barnabas.sim.crews import Hiring, Workers
from barnabas.sim.producers import Style
from barnabas.sim.promise import Plan
from barnabas.sim.world import SeededRandom

CARELESS = Topic("careless", 1, {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"}, 3)

# As Kafka's own tests: what takes seconds in the field takes fractions of one.
PROPERTIES = {
    "log.dirs": "/data/0",
    "leader.imbalance.check.interval.seconds": "1",
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "replica.lag.time.max.ms": "700",
    "replica.fetch.wait.max.ms": "350",
    "replica.fetch.backoff.ms": "40",
    "replica.socket.timeout.ms": "900",
    "controller.socket.timeout.ms": "600",
}


@dataclass(frozen=True, slots=True)
class ClusterPromise:
    name: str
    says: str
    kinds: tuple[ClusterKind, ...]
    checkers: tuple[Checker, ...]
    last: ClusterKind | None = None  # what happens at the very end, before everything is read
    brokers: tuple[int, ...] = (3, 3, 3, 4, 5)
    topic_configs: tuple[Mapping[str, str], ...] = ({},)
    styles: tuple[Style, ...] = (Style(think_ms=250, begins_alone=True),)
    producers: tuple[int, int] = (1, 2)
    partitions: tuple[int, int] = (1, 2)
    properties: Mapping[str, str] = field(default_factory=dict)
    faults_max: int = 4
    faults_ms: int = 1300
    hires: Callable[[SeededRandom], list[Hiring]] = lambda _random: []
    creates: int = 0  # so many more topics under way
    deletes: bool = False  # a topic of its own is deleted under way
    moves: bool = False  # replicas are moved about
    careless: bool = False  # beside the others there is a topic that elects uncleanly, and loses records
    nearby: float = 0.5  # how often the consumer has a rack, and reads from followers

    def plan(self, random: SeededRandom) -> tuple[int, Plan]:
        brokers = random.pick(self.brokers)
        properties = {
            **PROPERTIES,
            "log.flush.offset.checkpoint.interval.ms": str(random.pick((120, 400, 60_000))),
            "replica.high.watermark.checkpoint.interval.ms": str(random.pick((120, 5_000))),
            **self.properties,
        }
        configs = random.pick(self.topic_configs)
        topics = [Topic("topic", random.between(*self.partitions), configs, 3)]
        styles = [random.pick(self.styles) for _ in range(random.between(*self.producers))]
        hirings = self.hires(random)
        outputs = sorted({hiring.output for hiring in hirings if isinstance(hiring, Workers)})
        more = [Topic(name, random.between(1, 2), configs, 3) for name in outputs]
        return brokers, Plan(properties, topics, styles, hirings, more)
