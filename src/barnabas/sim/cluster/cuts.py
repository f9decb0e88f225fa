"""Who does not reach whom for a while: brokers, the ensemble and clients, one way or both."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from barnabas.sim.clients import Client
from barnabas.sim.cluster.cluster import Cluster
from barnabas.sim.cluster.machine import Machine
from barnabas.sim.cluster.routes import ENSEMBLE
from barnabas.sim.history import Fault, Happened
from barnabas.sim.world import World

CUT_MS = (50, 1500)
_SILENCE_MS = (300, 1500)
_DELAY_MS = 120


class Cuts:
    """Named as the kinds of faults that they are."""

    def __init__(self, world: World, cluster: Cluster, somebody: Callable[[], Client | None]) -> None:
        self._world = world
        self._random = world.random
        self._cluster = cluster
        self._somebody = somebody  # a client that has not finished yet

    def _anyone(self) -> Machine:
        return self._random.pick(list(self._cluster.machines.values()))

    def _two(self) -> tuple[int, int]:
        one = self._random.pick(list(self._cluster.machines))
        other = self._random.pick([each for each in self._cluster.machines if each != one])
        return one, other

    def _cut(self, *pairs: tuple[int, int], lasting_ms: tuple[int, int] = CUT_MS) -> None:
        self._note(f"cut: {', '.join(f'{source} to {target}' for source, target in pairs)}")
        for source, target in pairs:
            self._cluster.cut(source, target)
        self._mend_later(lasting_ms)

    def _mend_later(self, lasting_ms: tuple[int, int] = CUT_MS) -> None:
        self._world.after(self._random.between(*lasting_ms), self._mend)

    def _mend(self) -> None:
        self._note("all cuts are mended")
        self._cluster.mend()

    def cut_one_way(self) -> None:
        self._cut(self._two())

    def cut_ring(self) -> None:
        """Each reaches its next neighbour, and is reached by the one before, and by nobody else."""
        ids = list(self._cluster.machines)
        following = dict(zip(ids, [*ids[1:], ids[0]], strict=True))
        pairs = [(one, other) for one in ids for other in ids if other not in {one, following[one]}]
        self._cut(*pairs)

    def isolate(self) -> None:
        self.isolate_one(self._anyone())

    def isolate_one(self, machine: Machine) -> None:
        self._cut(*self._around(machine.broker_id, [ENSEMBLE, *self._cluster.machines]))

    def split_from_brokers(self) -> None:
        self._cut(*self._around(self._anyone().broker_id, list(self._cluster.machines)))

    def split_from_ensemble(self) -> None:
        self._cut(*self._around(self._anyone().broker_id, [ENSEMBLE]))

    def _around(self, broker_id: int, others: Sequence[int]) -> list[tuple[int, int]]:
        others = [other for other in others if other != broker_id]
        return [(broker_id, other) for other in others] + [(other, broker_id) for other in others]

    def delay(self) -> None:
        one, other = self._two()
        self._note(f"what {one} says to {other} takes long")
        self._cluster.routes.delay(one, other, _DELAY_MS)
        self._mend_later()

    def _note(self, what: str) -> None:
        self._world.history.add(Happened(Fault.OTHER, what))

    # --- the ensemble --------------------------------------------------------------------------------------

    def ensemble_out(self) -> None:
        self._note("the ensemble is out")
        self._cluster.lose_ensemble()
        self._mend_later()

    def delay_ensemble(self, broker_id: int) -> None:
        self._cluster.routes.delay(ENSEMBLE, broker_id, 2 * _DELAY_MS)
        self._mend_later()

    # --- clients -------------------------------------------------------------------------------------------

    def cut_client(self) -> None:
        client = self._somebody()
        if client is not None and client.may_stray:
            self._cut_from([self._cluster.number_of_client(client)])

    def cut_clients(self) -> None:
        self._cut_from(self._cluster.numbers_of_clients)

    def _cut_from(self, clients: Sequence[int]) -> None:
        broker_id = self._anyone().broker_id
        there = [(client, broker_id) for client in clients]
        back = [(broker_id, client) for client in clients]
        self._cut(*self._random.pick((there, back, there + back)))

    # --- one that came back --------------------------------------------------------------------------------

    def silence(self, machine: Machine) -> None:
        """It hears the others and they do not hear it. The ensemble does, and tells that it is here."""
        others = [other for other in self._cluster.machines if other != machine.broker_id]
        self._cut(*((machine.broker_id, other) for other in others), lasting_ms=_SILENCE_MS)
