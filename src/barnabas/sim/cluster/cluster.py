"""All machines, the routes between them, and the ensemble that they share."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.model.endpoint import Endpoint
from barnabas.replication.read_replica import RACK_AWARE
from barnabas.sim.cluster.ensemble import Ensemble
from barnabas.sim.cluster.machine import Machine
from barnabas.sim.cluster.routes import ENSEMBLE, Between, Routes
from barnabas.sim.network import Asker, Connection, Peer
from barnabas.sim.world import World

SESSION_TIMEOUT_MS = 600


class Cluster:
    def __init__(self, world: World, seed: int | str, brokers: int, properties: Mapping[str, str]) -> None:
        self.world = world
        self.seed = seed
        self.routes = Routes(world)
        self.ensemble = Ensemble(world, SESSION_TIMEOUT_MS)
        self._clients: dict[Asker, int] = {}  # their numbers are below the ensemble's
        self.machines = {
            broker_id: Machine(self, broker_id, _own(properties, broker_id))
            for broker_id in range(1, brokers + 1)
        }

    def start(self) -> None:
        for machine in self.machines.values():
            machine.start()

    @property
    def serving(self) -> list[Machine]:
        return [machine for machine in self.machines.values() if machine.serving]

    # --- how they reach each other -------------------------------------------------------------------------

    def number_of(self, endpoint: Endpoint) -> int:
        return int(endpoint.host.removeprefix("broker-"))

    def knock(self, broker_id: int, peer: Peer, route: Between) -> Connection | None:
        return self.machines[broker_id].connect(peer, route)

    def number_of_client(self, client: Asker) -> int:
        return self._clients.setdefault(client, -1 - len(self._clients))

    @property
    def numbers_of_clients(self) -> list[int]:
        """Of those whose words may lie under way for long."""
        return [number for client, number in self._clients.items() if client.may_stray]

    def call(self, client: Asker, broker_id: int, peer: Peer) -> Connection | None:
        """A client's connection, of which `peer` is its end. None: nobody listens."""
        machine = self.machines.get(broker_id)
        route = Between(self.routes, self.number_of_client(client), broker_id)
        return machine.connect(peer, route) if machine is not None else None

    # --- what can happen between them ----------------------------------------------------------------------

    def cut(self, source: int, target: int) -> None:
        """One way only."""
        self.routes.cut(source, target)
        if ENSEMBLE in {source, target}:
            store = self.machines[max(source, target)].store
            if store is not None:
                store.cut_off()

    def mend(self) -> None:
        self.routes.mend()
        self.ensemble.is_out = False
        for machine in self.machines.values():
            if machine.store is not None:
                machine.store.mended()

    def lose_ensemble(self) -> None:
        """Nobody reaches it, until `mend`."""
        self.ensemble.is_out = True
        for broker_id in self.machines:
            self.cut(broker_id, ENSEMBLE)
            self.cut(ENSEMBLE, broker_id)


def rack_of(broker_id: int) -> str:
    """Each has its own."""
    return f"rack-{broker_id}"


def _own(properties: Mapping[str, str], broker_id: int) -> dict[str, str]:
    return {
        **properties,
        "broker.id": str(broker_id),
        "broker.rack": rack_of(broker_id),
        "replica.selector.class": RACK_AWARE,
        "listeners": f"PLAINTEXT://broker-{broker_id}:9092",
        "zookeeper.connect": "ensemble:2181",
        "zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS),
    }
