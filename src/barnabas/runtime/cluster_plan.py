"""What a local cluster consists of, written in its directory: who belongs to it, and who should run.

DIR/cluster.json        the plan, changed by commands
DIR/running.json        what the supervisor made of it
DIR/supervisor.pid      locked while it lives
DIR/zookeeper, DIR/broker-0, …   properties, data and log of each process
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from barnabas.model import properties as java_properties

HOST = "127.0.0.1"
SESSION_TIMEOUT_MS = 2_000
# ZooKeeper counts sessions in ticks, and lets none be shorter than two.
TICK_MS = 200  # a session ends within one of these after its time
_PLAN, _RUNNING, _PID, _LOCK = "cluster.json", "running.json", "supervisor.pid", "cluster.lock"
ZOOKEEPER = "zookeeper"


class NoClusterError(Exception):
    """The directory holds no cluster, in one sentence."""


@dataclass(frozen=True, slots=True)
class BrokerPlan:
    broker_id: int
    port: int
    rack: str | None = None
    wanted: bool = True  # False: it was stopped, and stays down

    @property
    def name(self) -> str:
        return f"broker-{self.broker_id}"

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"


@dataclass(frozen=True, slots=True)
class Plan:
    zookeeper_port: int
    brokers: tuple[BrokerPlan, ...]
    replicas: int  # of topics that do not say, fixed when the cluster is made
    overrides: Mapping[str, str] = field(default_factory=dict)

    @property
    def bootstrap(self) -> str:
        return ",".join(broker.address for broker in self.brokers)

    def broker(self, broker_id: int) -> BrokerPlan | None:
        return next((broker for broker in self.brokers if broker.broker_id == broker_id), None)

    def with_broker(self, changed: BrokerPlan) -> Plan:
        """Replaced where its id is known, else added."""
        others = [broker for broker in self.brokers if broker.broker_id != changed.broker_id]
        return replace(self, brokers=tuple(sorted((*others, changed), key=lambda one: one.broker_id)))

    def all_wanted(self) -> Plan:
        return replace(self, brokers=tuple(replace(broker, wanted=True) for broker in self.brokers))


@dataclass(frozen=True, slots=True)
class Running:
    """One process as its supervisor sees it."""

    pid: int | None = None
    start_count: int = 0
    exit_code: int | None = None  # of its last end, where it is known; negative: the signal


class ClusterDirectory:
    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()

    # --- the plan ------------------------------------------------------------------------------------------

    def has_plan(self) -> bool:
        return (self.path / _PLAN).exists()

    def read_plan(self) -> Plan:
        try:
            found = json.loads((self.path / _PLAN).read_text())
        except FileNotFoundError:
            raise NoClusterError(
                f"{self.path} holds no cluster: `barnabas cluster start --data {self.path}` makes one."
            ) from None
        except ValueError as error:
            raise self._damaged(error) from None
        try:
            brokers = tuple(BrokerPlan(**row) for row in found["brokers"])
            return Plan(found["zookeeper_port"], brokers, found["replicas"], found["overrides"])
        except (KeyError, TypeError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> NoClusterError:
        return NoClusterError(f"{self.path / _PLAN} is damaged ({error}): nothing can be started from it.")

    def write_plan(self, plan: Plan) -> None:
        self._replace(_PLAN, json.dumps(asdict(plan), indent=2))

    @contextmanager
    def changing(self) -> Iterator[None]:
        """One command at a time: a plan is read, changed and written by nobody else meanwhile."""
        self.path.mkdir(parents=True, exist_ok=True)
        with open(self.path / _LOCK, "w", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    # --- what runs -----------------------------------------------------------------------------------------

    def read_running(self) -> dict[str, Running]:
        try:
            found = json.loads((self.path / _RUNNING).read_text())
        except FileNotFoundError:
            return {}
        return {name: Running(**row) for name, row in found.items()}

    def write_running(self, running: Mapping[str, Running]) -> None:
        self._replace(_RUNNING, json.dumps({name: asdict(row) for name, row in running.items()}, indent=2))

    def take_office(self) -> int | None:
        """The descriptor that makes this process the supervisor; None where there is one already."""
        descriptor = os.open(self.path / _PID, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        os.truncate(descriptor, 0)
        os.write(descriptor, b"%d\n" % os.getpid())
        return descriptor

    def supervisor_pid(self) -> int | None:
        """Of the supervisor that lives: a file that a crash left behind is not locked."""
        try:
            with open(self.path / _PID, "rb") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return int(file.read() or 0) or None
        except FileNotFoundError:
            return None
        return None

    # --- files of each process -----------------------------------------------------------------------------

    @property
    def supervisor_log(self) -> Path:
        return self.path / "supervisor.log"

    def folder(self, name: str) -> Path:
        return self.path / name

    def properties_file(self, name: str) -> Path:
        return self.folder(name) / ("zookeeper.properties" if name == ZOOKEEPER else "server.properties")

    def log_file(self, name: str) -> Path:
        return self.folder(name) / ("zookeeper.log" if name == ZOOKEEPER else "server.log")

    def write_properties(self, plan: Plan) -> None:
        self._write_file(ZOOKEEPER, zookeeper_properties(plan, self.folder(ZOOKEEPER) / "data"))
        for broker in plan.brokers:
            self._write_file(broker.name, broker_properties(plan, broker, self.folder(broker.name) / "data"))

    def _write_file(self, name: str, properties: dict[str, str]) -> None:
        (self.folder(name) / "data").mkdir(parents=True, exist_ok=True)
        self.properties_file(name).write_text(java_properties.dump(properties))

    def _replace(self, name: str, text: str) -> None:
        """Whole or not at all: a reader may look at any moment."""
        fresh = self.path / f".{name}.{os.getpid()}"
        fresh.write_text(text + "\n")
        fresh.replace(self.path / name)


def zookeeper_properties(plan: Plan, data: Path) -> dict[str, str]:
    return {
        "dataDir": str(data),
        "clientPort": str(plan.zookeeper_port),
        "clientPortAddress": HOST,
        "tickTime": str(TICK_MS),
        "maxSessionTimeout": "60000",
        "maxClientCnxns": "0",
        "autopurge.purgeInterval": "1",
        "4lw.commands.whitelist": "srvr,ruok,mntr",
    }


def broker_properties(plan: Plan, broker: BrokerPlan, data: Path) -> dict[str, str]:
    """What Kafka's guides advise for a cluster of this size; the overrides win."""
    copies, in_sync = str(plan.replicas), str(min(2, plan.replicas))
    return {
        "broker.id": str(broker.broker_id),
        "listeners": f"PLAINTEXT://{broker.address}",
        "log.dirs": str(data),
        "zookeeper.connect": f"{HOST}:{plan.zookeeper_port}",
        "zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS),
        "zookeeper.connection.timeout.ms": "30000",
        "default.replication.factor": copies,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": copies,
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": in_sync,
        "group.initial.rebalance.delay.ms": "0",
        **({"broker.rack": broker.rack} if broker.rack else {}),
        **plan.overrides,
    }
