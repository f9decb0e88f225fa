"""One broker with its machine: the real `Node` on simulated ports, and what can be done to it.

A `Life` is one run of the process: whatever it scheduled dies with it. The `Host` is the machine: the disk
and the store's file survive, in part.
"""

from __future__ import annotations

import errno
import traceback
from collections.abc import Callable, Mapping
from functools import cache
from typing import Protocol

from barnabas.broker.boot import Boot, BootError
from barnabas.broker.node import Node, Ports
from barnabas.broker.session import Part, Session
from barnabas.log.names import PartitionDirectory, parse_directory
from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.settings.broker import BrokerSettings
from barnabas.ports import MetadataStore, Network
from barnabas.sim.cleaner import SimulatedCleaner
from barnabas.sim.disk import CrashMode, PowerLostError, SimulatedDisk
from barnabas.sim.history import Broke, DirectoryFailed, Fault, Happened
from barnabas.sim.network import Connection, Nowhere, Peer, Route
from barnabas.sim.store import SimulatedStore
from barnabas.sim.workers import SimulatedWorkers
from barnabas.sim.world import World
from barnabas.store.memory import MemoryHome


class LifeStore(MetadataStore, Protocol):
    def die(self) -> None:
        """The process is gone, without a word."""
        ...


class Life:
    """From the start of the process to its end."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._world = host.world
        self.alive = True
        self.serving = False
        self.connections: list[Connection] = []
        self.workers = SimulatedWorkers(self, host.slowness)
        self.store = host.make_store(self)
        self.cleaner = SimulatedCleaner(self, host.disk)
        network = host.make_network(self)
        ports = Ports(host.disk, host.random, self.store, self.workers, self.cleaner, network)
        self.node = Node(host.broker_id, host.settings, ports)
        self._tick_ms = -1
        self._slept_through: list[Callable[[], None]] | None = None  # while the process is stopped

    def begin(self) -> None:
        self.enter(self._boot)

    def _boot(self) -> None:
        Boot(self.node, self._host.endpoints, self._host.settings.optional_text("broker.rack"), self._ready)
        self.store.start(lambda: self.enter(self.node.store.poll))

    def _ready(self) -> None:
        self.serving = True
        self._world.history.add(Happened(Fault.START, self._host.name))

    # --- time ----------------------------------------------------------------------------------------------

    def soon(self, most_ms: int, action: Callable[[], None]) -> None:
        self._world.soon(most_ms, lambda: self.guarded(action))

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        self._world.after(delay_ms, lambda: self.guarded(action))

    def guarded(self, action: Callable[[], None]) -> None:
        """What the process does ends with the process; what must not happen is written down."""
        if not self.alive:
            return
        if self._slept_through is not None:
            self._slept_through.append(action)
            return
        try:
            action()
        except PowerLostError:
            self._host.fell()
        except BootError as problem:
            if self._host.may_fail_to_start:
                self._host.stop_process()
            else:
                self._broke(f"the broker cannot start: {problem}")
        except Exception:
            # On a real machine this costs a connection or the process; here it is what we look for.
            self._broke(traceback.format_exc())

    def _broke(self, what: str) -> None:
        self._world.history.add(Broke(what))
        self._host.stop_process()

    @property
    def is_stopped(self) -> bool:
        return self._slept_through is not None

    def sleep(self) -> None:
        """SIGSTOP, a long swap: the process does nothing and notices nothing, until `wake`."""
        self._slept_through = self._slept_through or []

    def wake(self) -> None:
        """What happened meanwhile happens to it now, in that order."""
        missed, self._slept_through = self._slept_through or [], None
        for action in missed:
            self.guarded(action)

    def enter(self, action: Callable[[], None]) -> None:
        """One turn of the loop: something happened, then what is due."""
        self.guarded(lambda: self._turn(action))

    def _turn(self, action: Callable[[], None]) -> None:
        node, world = self.node, self._world
        node.set_time(self._host.monotonic_ms, self._host.wall_ms)
        action()
        wait_ms = node.tick()
        if node.exit_code is not None:
            world.history.add(Happened(Fault.OTHER, f"the broker stops itself with {node.exit_code}"))
            self._host.stopped_itself()
            return
        due_ms = world.now_ms + max(self._host.lasts_ms(wait_ms), 1)
        if not world.now_ms < self._tick_ms <= due_ms:
            self._tick_ms = due_ms
            world.after(due_ms - world.now_ms, lambda: self.enter(_nothing))

    # --- clients -------------------------------------------------------------------------------------------

    def handle(self, session: Session, frame: memoryview) -> list[Part] | None:
        return self.node.handle(session, frame)

    def session_ended(self, session: Session) -> None:
        self.node.disconnected(session)


def _nothing() -> None:
    return


@cache
def _settings(properties: frozenset[tuple[str, str]]) -> BrokerSettings:
    return BrokerSettings.parse(dict(properties))[0]


class Host:
    """Of a broker that is alone: its metadata is a file in its first directory."""

    broker_id = 1
    name = ""

    def __init__(self, world: World, properties: Mapping[str, str], seed: int | str) -> None:
        self.world = world
        self.settings = _settings(frozenset(properties.items()))
        self.disk = SimulatedDisk(now_ms=lambda: self.wall_ms)
        self.home = MemoryHome()
        self.random = type(world.random)(f"{seed}/broker")
        self.slowness = Slowness()
        self.life: Life | None = None
        self._falls: Callable[[], None] = self.power_loss
        for path in self.settings.log_dirs:
            self._format(path)

    def _format(self, path: str) -> None:
        """A log directory exists before the broker does, and so does its name."""
        self.disk.make_directories(path)
        while path:
            path = path.rpartition("/")[0]
            self.disk.sync_directory(path or "/")

    # --- what a life of the process finds ------------------------------------------------------------------

    @property
    def endpoints(self) -> Mapping[str, Endpoint]:
        return {"PLAINTEXT": Endpoint("broker", 9092, SecurityProtocol.PLAINTEXT)}

    @property
    def wall_ms(self) -> int:
        return self.world.wall_ms

    @property
    def monotonic_ms(self) -> int:
        return self.world.now_ms

    def lasts_ms(self, wait_ms: int) -> int:
        """How long a while of this machine's clock really is."""
        return wait_ms

    def make_store(self, life: Life) -> LifeStore:
        return SimulatedStore(life, self.home, self.disk, self.settings.log_dirs[0])

    def make_network(self, _life: Life) -> Network:
        return Nowhere()

    @property
    def may_fail_to_start(self) -> bool:
        return not self.metadata_reachable

    @property
    def serving(self) -> bool:
        return self.life is not None and self.life.serving

    # --- what clients can do -------------------------------------------------------------------------------

    def connect(self, peer: Peer, route: Route | None = None) -> Connection | None:
        """None: nobody listens."""
        life = self.life
        if life is None or not life.serving:
            return None
        connection = Connection(self.world, life, peer, route)
        life.connections.append(connection)
        return connection

    # --- what can happen to the process --------------------------------------------------------------------

    def start(self) -> None:
        if self.life is None:
            self.life = Life(self)
            self.life.begin()

    def stop_process(self) -> None:
        """The process is gone; nobody has told the disk anything."""
        life, self.life = self.life, None
        if life is None:
            return
        life.alive = False
        life.store.die()
        for connection in life.connections:
            connection.break_off()

    def stopped_itself(self) -> None:
        self.stop_process()

    def stop_orderly(self) -> None:
        life = self.life
        if life is None:
            return
        self.world.history.add(Happened(Fault.STOP, self.name))
        life.guarded(lambda: self._shut_down(life))

    def _shut_down(self, life: Life) -> None:
        for connection in life.connections:
            connection.break_off()
        life.cleaner.abort()
        life.workers.finish()
        life.node.logs.close_all(self.world.wall_ms)
        life.store.close()
        self.stop_process()

    def kill(self) -> None:
        self.world.history.add(Happened(Fault.KILL, self.name))
        self.stop_process()
        self.disk.crash(self.world.random, CrashMode.KEEP)

    def power_loss(self) -> None:
        mode = self.world.random.pick((CrashMode.DROP, CrashMode.TEAR, CrashMode.TEAR))
        self.world.history.add(Happened(Fault.POWER_LOSS, f"{mode.name} {self.name}".rstrip()))
        self.stop_process()
        self.disk.crash(self.world.random, mode)

    def fall_after(self, changes: int, how: Callable[[], None]) -> None:
        """Die in that way between two changes of the disk, wherever the broker then is."""
        self._falls = how
        self.disk.stop_after(changes)

    def fell(self) -> None:
        self._falls()

    # --- what can happen to the machine --------------------------------------------------------------------

    def fail_directory(self, path: str, code: int = errno.EIO) -> None:
        self.world.history.add(Happened(Fault.OTHER, f"{errno.errorcode[code]} in {path}"))
        names = map(parse_directory, self.disk.list(path))
        held = tuple(name.topic_partition for name in names if isinstance(name, PartitionDirectory))
        self.world.history.add(DirectoryFailed(path, held))
        self.disk.fail(path, code)

    @property
    def metadata_reachable(self) -> bool:
        """No broker starts without the file that lies in the first directory."""
        try:
            self.disk.check(f"{self.settings.log_dirs[0]}/metadata.db", writing=True)
        except OSError:
            return False
        return True

    def repair(self) -> None:
        self.world.history.add(Happened(Fault.OTHER, "the disks are repaired"))
        self.disk.heal()

    def jump_clock(self, step_ms: int) -> None:
        self.world.history.add(Happened(Fault.OTHER, f"the wall clock jumps by {step_ms} ms"))
        self.world.wall_skew_ms += step_ms


class Slowness:
    """How long the disk may take for what a worker asks of it."""

    def __init__(self) -> None:
        self.most_ms = 5
