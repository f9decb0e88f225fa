"""One machine of a cluster: a broker with its own disk, clock and slowness, beside others."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from barnabas.broker.cluster.leaving import Leaving
from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.ports import Network
from barnabas.sim.cluster.lines import Exchange
from barnabas.sim.cluster.store import EnsembleStore
from barnabas.sim.disk import SimulatedDisk
from barnabas.sim.history import Fault, Happened
from barnabas.sim.host import Host, Life, LifeStore
from barnabas.sim.network import Connection, Peer, Route

if TYPE_CHECKING:
    from barnabas.sim.cluster.cluster import Cluster

PORT = 9092
_SKEW_MS = 5_000
_UP_MS = 1_000_000
_TRUE_PACE = 1000  # its clock's milliseconds in a second
_PACES = (850, 1150)


class Machine(Host):
    def __init__(self, cluster: Cluster, broker_id: int, properties: Mapping[str, str]) -> None:
        self.cluster = cluster
        self.broker_id = broker_id
        self.name = f"broker-{broker_id}"
        self._leaves = False
        self.ended_well = False  # the last life of the process
        self.store: EnsembleStore | None = None
        self.exchange: Exchange | None = None
        self.before_it_ends: Callable[[Machine], None] = lambda _machine: None
        random = cluster.world.random
        self.skew_ms = random.between(-_SKEW_MS, _SKEW_MS)
        self._pace = random.between(*_PACES)
        self._up_ms = random.between(0, _UP_MS)  # before all this began
        super().__init__(cluster.world, properties, f"{cluster.seed}/{broker_id}")

    @property
    def endpoints(self) -> Mapping[str, Endpoint]:
        return {"PLAINTEXT": Endpoint(self.name, PORT, SecurityProtocol.PLAINTEXT)}

    @property
    def wall_ms(self) -> int:
        return self.world.wall_ms - self.world.now_ms + self._elapsed_ms + self.skew_ms

    @property
    def monotonic_ms(self) -> int:
        return self._up_ms + self._elapsed_ms

    @property
    def _elapsed_ms(self) -> int:
        """Its clock goes at a pace of its own."""
        return self.world.now_ms * self._pace // _TRUE_PACE

    def lasts_ms(self, wait_ms: int) -> int:
        return -(-wait_ms * _TRUE_PACE // self._pace)

    def make_store(self, life: Life) -> LifeStore:
        self.store = EnsembleStore(life, self.broker_id, self.cluster.ensemble, self.cluster.routes)
        return self.store

    def make_network(self, life: Life) -> Network:
        self.exchange = Exchange(self.cluster, life, self.broker_id)
        return self.exchange

    @property
    def may_fail_to_start(self) -> bool:
        """The ensemble was not there, or an earlier life still is: whoever supervises it tries again."""
        return True

    def connect(self, peer: Peer, route: Route | None = None) -> Connection | None:
        if self.life is not None:
            self.life.connections = [one for one in self.life.connections if not one.is_over]
        return super().connect(peer, route)

    # --- what can happen to it -----------------------------------------------------------------------------

    def stop_process(self) -> None:
        self.before_it_ends(self)
        self._leaves = self.ended_well = False
        exchange, self.exchange = self.exchange, None
        super().stop_process()
        if exchange is not None:
            exchange.die()

    def stopped_itself(self) -> None:
        """Whatever its reason, a process that stops itself does so in good order."""
        life = self.life
        if life is not None:
            life.guarded(lambda: self._shut_down(life))
            self.ended_well = True

    def stop_orderly(self) -> None:
        """As on a signal: others lead in its place before it goes."""
        life = self.life
        if life is None or not life.serving or life.is_stopped:
            return
        self.world.history.add(Happened(Fault.STOP, self.name))
        self._leaves = True
        leaving = Leaving(life.node, lambda: life.node.stop(0))
        life.enter(leaving.begin)

    def freeze(self, duration_ms: int) -> None:
        """The process stops for so long, and goes on as if nothing had been."""
        life, store = self.life, self.store
        if life is None or store is None or life.is_stopped:
            return
        self._note(f"is stopped for {duration_ms} ms")
        life.sleep()
        store.sleep()
        self.world.after(duration_ms, lambda: self._wake(life))

    def _wake(self, life: Life) -> None:
        if self.life is life and self.store is not None and life.is_stopped:
            self._note("goes on")
            self.store.wake()
            life.wake()

    @property
    def is_troubled(self) -> bool:
        """Down, stopped for a while, or about to stop for good."""
        return not self.serving or self._leaves or (self.life is not None and self.life.is_stopped)

    def lose_disk(self) -> None:
        """The process dies; whoever starts it again has put an empty disk in."""
        self._note("loses its disk")
        self.stop_process()
        self.disk = SimulatedDisk(now_ms=lambda: self.wall_ms)
        for path in self.settings.log_dirs:
            self._format(path)

    def expire_session(self) -> None:
        if self.life is not None and self.store is not None:
            self._note("loses its session")
            self.store.expire()

    def break_off_from_ensemble(self) -> None:
        if self.life is not None and self.store is not None:
            self._note("loses its connection to the ensemble")
            self.store.break_off()

    def jump_clock(self, step_ms: int) -> None:
        self._note(f"sets its clock by {step_ms} ms")
        self.skew_ms += step_ms

    def fail_directory(self, path: str, code: int = errno.EIO) -> None:
        self._note(f"{errno.errorcode[code]} in {path}")
        self.disk.fail(path, code)

    def repair(self) -> None:
        self._note("has its disks repaired")
        self.disk.heal()

    def _note(self, what: str) -> None:
        self.world.history.add(Happened(Fault.OTHER, f"{self.name} {what}"))
