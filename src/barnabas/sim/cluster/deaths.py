"""Who may die, and who may forget (unsynced pages, a whole disk), without losing what all acknowledged.

A machine forgets only while another one has everything; and until it is in sync again, nobody else dies.
Brokers cannot tell who forgot from who was only killed: had all died, any of them might be the one that knows
less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from barnabas.sim.cluster.cluster import Cluster
from barnabas.sim.cluster.machine import Machine
from barnabas.sim.cluster.overview import Overview

_NEVER = -1


class Deaths:
    def __init__(self, cluster: Cluster, overview: Overview) -> None:
        self._cluster = cluster
        self._overview = overview
        self._deaths: dict[int, int] = {}  # the last change of the tree when a broker died
        self._forgetful: set[int] = set()  # those who are not in sync again since they forgot

    def note(self, machine: Machine) -> None:
        self._deaths[machine.broker_id] = self._cluster.ensemble.home.tree.zxid

    def of(self, brokers: Iterable[int]) -> dict[int, int]:
        return {broker_id: self._deaths.get(broker_id, _NEVER) for broker_id in brokers}

    def die(self, machine: Machine) -> None:
        if not self.somebody_forgets():
            self.note(machine)
            machine.kill()

    def forget(self, machine: Machine, how: Callable[[Machine], None]) -> None:
        """Or die and remember, if nobody else would."""
        if self.may_forget(machine.broker_id):
            self.forget_now(machine, how)
        else:
            self.die(machine)

    def forget_now(self, machine: Machine, how: Callable[[Machine], None]) -> None:
        for other in self._cluster.machines.values():
            if other is not machine:
                other.disk.call_off()
        self.note(machine)
        self._forgetful.add(machine.broker_id)
        how(machine)

    def may_forget(self, broker_id: int) -> bool:
        """None of the others is about to be found out: whoever of them leaves last has everything."""
        sound = all(map(self.is_sound, self.neighbours(broker_id)))
        return sound and self._is_spare(broker_id) and not self.somebody_forgets()

    def neighbours(self, broker_id: int) -> set[int]:
        """Those who share a partition with it."""
        sharing = [replicas for _, replicas in self._overview.partitions() if broker_id in replicas]
        return {one for replicas in sharing for one in replicas} - {broker_id}

    def _is_spare(self, broker_id: int) -> bool:
        """Whether of every partition another replica has all that was committed, and is sound."""
        for place, replicas in self._overview.partitions():
            state = self._overview.state(place)
            if broker_id not in replicas:
                continue
            complete = () if state is None else (*state.isr, *state.elr)
            if not any(one != broker_id and self.is_sound(one) for one in complete):
                return False
        return True

    def is_sound(self, broker_id: int) -> bool:
        """It lives, or was stopped in good order; and if it has died before, the controller knows: where it
        is in sync, it is so anew."""
        machine = self._cluster.machines[broker_id]
        if machine.life is None and not machine.ended_well:
            return False
        died = self._deaths.get(broker_id, _NEVER)
        node = self._cluster.ensemble.home.tree.nodes.get(f"/brokers/ids/{broker_id}")
        return died < 0 or (node is not None and node.czxid > died and b"unclean" not in node.value)

    def somebody_forgets(self) -> bool:
        for broker_id in sorted(self._forgetful):
            if self.is_sound(broker_id) and self._is_in_sync(broker_id):
                self._forgetful.discard(broker_id)
        return bool(self._forgetful)

    def _is_in_sync(self, broker_id: int) -> bool:
        for place, replicas in self._overview.partitions():
            state = self._overview.state(place)
            if broker_id in replicas and (state is None or broker_id not in state.isr):
                return False
        return True
