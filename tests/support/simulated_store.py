"""The simulation's metadata store for tests that wait: whoever looks for events lets the world go on."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.ports import StoreEvent
from barnabas.sim.cluster.ensemble import Ensemble
from barnabas.sim.cluster.routes import Routes
from barnabas.sim.cluster.store import EnsembleStore
from barnabas.sim.world import World

BROKER = 1
_PATIENCE_MS = 5_000


class SimulatedHome:
    def __init__(self, seed: int = 0, session_timeout_ms: int = 600) -> None:
        self.world = World(seed)
        self.routes = Routes(self.world)
        self.ensemble = Ensemble(self.world, session_timeout_ms)

    def store(self, broker_id: int = BROKER) -> PumpedStore:
        return PumpedStore(self, broker_id)

    def wait(self, duration_ms: int) -> None:
        self.world.run_until(lambda: False, self.world.now_ms + duration_ms)


class PumpedStore(EnsembleStore):
    def __init__(self, home: SimulatedHome, broker_id: int) -> None:
        super().__init__(home.world, broker_id, home.ensemble, home.routes)
        self._home = home

    def start(self, notify: Callable[[], None]) -> None:
        super().start(notify)
        self._home.wait(60)

    def events(self) -> list[StoreEvent]:
        taken = super().events()
        deadline_ms = self._home.world.now_ms + _PATIENCE_MS
        while not taken and self._home.world.now_ms < deadline_ms:
            self._home.wait(20)
            taken = super().events()
        if taken:
            self._notify()  # more may follow as soon as somebody looks
        return taken
