"""What may go wrong in a cluster, and when: all of it from the seed.

Nothing of this may lose what was acknowledged by all: `deaths.py` knows who may die or forget, and when.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence

from barnabas.model.ids import TopicPartition
from barnabas.sim.clients import Client
from barnabas.sim.cluster.cluster import Cluster
from barnabas.sim.cluster.cuts import CUT_MS, Cuts
from barnabas.sim.cluster.deaths import Deaths
from barnabas.sim.cluster.kinds import ClusterKind
from barnabas.sim.cluster.machine import Machine
from barnabas.sim.cluster.overview import Overview
from barnabas.sim.history import Fault, Happened
from barnabas.sim.scripts import Actor
from barnabas.sim.world import World

_DOWN_MS = 400
_CHANGES_MAX = 60
_FREEZE_MS = (50, 1800)
_LONG_FREEZE_MS = (700, 1800)
_AWAY_MS = (1500, 2500)
_AWAY_SHORTLY_MS = (800, 1300)
_AHEAD_TRIES = 400
_HESITATION_MS = 4
_INTERNAL = "__"
_CLIENT_FREEZE_MS = (50, 900)
_STRAY_MS = 300
_SLOW_MS = 150
_FAST_MS = 5
_TEN_MINUTES_MS = 600_000


class ClusterFaults:
    def __init__(
        self,
        world: World,
        cluster: Cluster,
        overview: Overview,
        clients: Callable[[], Sequence[Client]],
        kinds: Sequence[ClusterKind],
        most: int,
        latest_ms: int,
    ) -> None:
        self._world = world
        self._random = world.random
        self._cluster = cluster
        self._overview = overview
        self._clients = clients
        self._latest_ms = latest_ms
        self._deaths = Deaths(cluster, overview)
        self._cuts = Cuts(world, cluster, self._client)
        self.over = False
        for _ in range(self._random.between(1, most) if kinds else 0):
            self._plan(self._random.pick(kinds))
        world.after(latest_ms, self._end)
        for machine in cluster.machines.values():
            self._watch(machine)

    def _plan(self, kind: ClusterKind) -> None:
        """Early enough for all that comes of it."""
        self._world.after(self._random.between(0, self._latest_ms * 2 // 3), lambda: self.strike(kind))

    def strike(self, kind: ClusterKind) -> None:
        name = kind.name.lower()
        way = getattr(self._cuts, name, None) or getattr(self, f"_{name}")
        way()

    def _watch(self, machine: Machine) -> None:
        """Somebody starts a broker whenever it is down."""
        if machine.life is None:
            machine.start()
        self._world.after(self._random.between(1, _DOWN_MS), lambda: self._watch(machine))

    def _end(self) -> None:
        """From now on nothing goes wrong any more."""
        self.over = True
        self._cluster.mend()
        for machine in self._cluster.machines.values():
            machine.slowness.most_ms = _FAST_MS
            machine.disk.call_off()
            self._repair(machine)

    # --- processes and machines ----------------------------------------------------------------------------

    def _anyone(self) -> Machine:
        return self._random.pick(list(self._cluster.machines.values()))

    def _kill(self) -> None:
        self._deaths.die(self._anyone())

    def _kill_inside(self) -> None:
        self._die_inside(self._anyone(), self._deaths.die)

    def _kill_controller(self) -> None:
        self._deaths.die(self._overview.controller or self._anyone())

    def _kill_all(self) -> None:
        for machine in self._cluster.machines.values():
            self._deaths.die(machine)

    def _stop(self) -> None:
        self._anyone().stop_orderly()

    def _freeze(self) -> None:
        self._anyone().freeze(self._random.between(*_FREEZE_MS))

    def _power_loss(self) -> None:
        self._deaths.forget(self._anyone(), Machine.power_loss)

    def _power_loss_inside(self) -> None:
        self._die_inside(self._anyone(), lambda machine: self._deaths.forget(machine, Machine.power_loss))

    def _lose_disk(self) -> None:
        self._deaths.forget(self._anyone(), Machine.lose_disk)

    def _return_unheard(self) -> None:
        """Whoever still counts on what it had before believes somebody who is not there any more."""
        machine = self._anyone()
        if self._deaths.may_forget(machine.broker_id):
            self._deaths.forget_now(machine, self._random.pick((Machine.power_loss, Machine.lose_disk)))
            machine.start()
            self._cuts.silence(machine)
            self._when_taken_in(machine, _AHEAD_TRIES)

    def _when_taken_in(self, machine: Machine, tries: int) -> None:
        """Then one that leads it dies."""
        if self.over or not tries:
            return
        if self._deaths.somebody_forgets():
            self._world.after(3, lambda: self._when_taken_in(machine, tries - 1))
            return
        leaders = {state.leader for state in self._overview.states_with(machine.broker_id)}
        for leader in sorted(leaders & self._cluster.machines.keys() - {machine.broker_id})[:1]:
            self._deaths.die(self._cluster.machines[leader])

    def _die_inside(self, machine: Machine, how: Callable[[Machine], None]) -> None:
        if machine.life is not None and not self._deaths.somebody_forgets():
            machine.fall_after(self._random.below(_CHANGES_MAX), lambda: how(machine))

    # --- at the worst moment -------------------------------------------------------------------------------

    def _kill_ahead(self) -> None:
        self._when_ahead(self._deaths.die)

    def _power_loss_ahead(self) -> None:
        self._when_ahead(lambda machine: self._deaths.forget(machine, Machine.power_loss))

    def _forget_a_cut(self) -> None:
        """What was cut was durable, and the cutting is not."""
        self._when_ahead(self._stop_and_forget)

    def _stop_and_forget(self, machine: Machine) -> None:
        before = machine.life
        machine.stop_orderly()
        self._when_back(machine, before, _AHEAD_TRIES)

    def _when_back(self, machine: Machine, before: object, tries: int) -> None:
        states = self._overview.states_with(machine.broker_id)
        is_anew = machine.life is not None and machine.life is not before
        if is_anew and all(machine.broker_id in state.isr for state in states):
            self._world.soon(_HESITATION_MS, lambda: self._deaths.forget(machine, Machine.power_loss))
        elif tries and not self.over:
            self._world.after(3, lambda: self._when_back(machine, before, tries - 1))

    def _isolate_ahead(self) -> None:
        self._when_ahead(self._cuts.isolate_one)

    def _freeze_ahead(self) -> None:
        self._when_ahead(lambda machine: machine.freeze(self._random.between(*_LONG_FREEZE_MS)))

    def _kill_coordinator_ahead(self) -> None:
        self._when_ahead(self._deaths.die, _INTERNAL)

    def _when_ahead(
        self, how: Callable[[Machine], None], topics: str = "", tries: int = _AHEAD_TRIES
    ) -> None:
        machine = self._overview.ahead(topics)
        if machine is not None:
            self._world.soon(_HESITATION_MS, lambda: how(machine))
        elif tries and not self.over:
            self._world.after(1, lambda: self._when_ahead(how, topics, tries - 1))

    def _last_standing(self) -> None:
        """Whoever left the in-sync replicas last has all that was ever acknowledged, and comes back."""
        place, replicas = self._random.pick(list(self._overview.partitions()))
        state = self._overview.state(place)
        if state is None or state.leader not in replicas or not self._deaths.may_forget(state.leader):
            return
        neighbours = self._deaths.neighbours(state.leader)
        for other in replicas:
            if other != state.leader:
                self._cluster.machines[other].freeze(self._random.between(*_AWAY_MS))
        deaths = self._deaths.of(neighbours)
        self._when_alone(place, self._cluster.machines[state.leader], deaths, _AHEAD_TRIES)

    def _when_alone(
        self, place: TopicPartition, machine: Machine, deaths: dict[int, int], tries: int
    ) -> None:
        """Unless one of the others has died meanwhile: it might be the one who left last."""
        if self._deaths.somebody_forgets() or self._deaths.of(deaths) != deaths:
            return
        state = self._overview.state(place)
        if state is not None and state.isr == (machine.broker_id,):
            self._deaths.forget_now(machine, Machine.power_loss)
        elif tries:
            self._world.after(5, lambda: self._when_alone(place, machine, deaths, tries - 1))

    def _leader_away(self) -> None:
        """Nobody leads meanwhile, but where the topic says that anybody may."""
        place, replicas = self._random.pick(list(self._overview.partitions()))
        state = self._overview.state(place)
        if state is not None and state.leader in replicas:
            for other in replicas:
                if other != state.leader:
                    self._cluster.machines[other].freeze(self._random.between(*_AWAY_SHORTLY_MS))
            self._when_in_sync_alone(place, self._cluster.machines[state.leader], _AHEAD_TRIES)

    def _when_in_sync_alone(self, place: TopicPartition, machine: Machine, tries: int) -> None:
        state = self._overview.state(place)
        if state is not None and state.isr == (machine.broker_id,):
            machine.freeze(self._random.between(*_AWAY_MS))
        elif tries and not self.over:
            self._world.after(5, lambda: self._when_in_sync_alone(place, machine, tries - 1))

    # --- disks and clocks ----------------------------------------------------------------------------------

    def _slow_disk(self) -> None:
        slowness = self._anyone().slowness
        slowness.most_ms = _SLOW_MS
        self._world.soon(3 * _SLOW_MS, lambda: setattr(slowness, "most_ms", _FAST_MS))

    def _io_error(self) -> None:
        machine = self._anyone()
        if self._deaths.somebody_forgets():
            return
        self._deaths.note(machine)
        machine.fail_directory(self._random.pick(machine.settings.log_dirs), errno.EIO)
        self._world.soon(CUT_MS[1], lambda: self._repair(machine))

    def _repair(self, machine: Machine) -> None:
        """Whoever changes a disk restarts the broker."""
        if machine.disk.is_failing:
            machine.repair()
            machine.stop_process()

    def _clock_jump(self) -> None:
        step_ms = self._random.pick((-_TEN_MINUTES_MS, -1000, 1000, _TEN_MINUTES_MS))
        self._anyone().jump_clock(step_ms)

    # --- the ensemble --------------------------------------------------------------------------------------

    def _expire(self) -> None:
        self._anyone().expire_session()

    def _break_store(self) -> None:
        self._anyone().break_off_from_ensemble()

    def _depose(self) -> None:
        """Of which the controller may hear late."""
        self._world.history.add(Happened(Fault.OTHER, "/controller is deleted"))
        controller = self._overview.controller
        if controller is not None and self._random.chance(0.5):
            self._cuts.delay_ensemble(controller.broker_id)
        self._cluster.ensemble.delete("/controller")

    # --- clients -------------------------------------------------------------------------------------------

    def _disconnect(self) -> None:
        client = self._client()
        if client is not None and client.is_connected:
            client.try_again()

    def _client_freeze(self) -> None:
        client = self._client()
        if isinstance(client, Actor):
            client.freeze(self._random.between(*_CLIENT_FREEZE_MS))

    def _stray(self) -> None:
        client = self._client()
        if client is not None:
            client.stray(_STRAY_MS)

    def _client(self) -> Client | None:
        clients = [client for client in self._clients() if not client.finished]
        return self._random.pick(clients) if clients else None
