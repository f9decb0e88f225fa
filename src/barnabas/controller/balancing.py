"""Which replicas to move so that brokers carry alike: disk, leaders, traffic and the number of replicas.

How uneven a cluster is, is one number: for each of the four loads the mean square of how far brokers are from
the average, relative to it, added up; what racks could hold apart and do not weighs more than all of that.
From there a greedy walk: away from whoever carries most of something, with the steps that help most for what
they cost, until none helps noticeably. A step gives a replica from one broker to another, or makes another
replica the preferred leader, which costs nothing. So unevenness only ever falls, and a partition keeps as
many replicas as it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from barnabas.model.ids import TopicPartition


class Load(StrEnum):
    """What is to be even. The value is what people read."""

    DISK = "disk"
    LEADERS = "leaders"
    TRAFFIC = "traffic"
    REPLICAS = "replicas"


# Replicas count for less: they are what is left to even out where nothing is written.
_WEIGHTS = {Load.DISK: 1.0, Load.LEADERS: 1.0, Load.TRAFFIC: 1.0, Load.REPLICAS: 0.25}
_RACK_WEIGHT = 1000.0
# A step that gains less is not worth the disturbance.
_GAIN_MIN = 1e-4
_NOTHING = 1e-6  # a load that is not there
# What moving all bytes of the cluster would cost, in units of unevenness.
_COST_OF_ALL_BYTES = 0.1


@dataclass(frozen=True, slots=True)
class Placed:
    """A partition as it stands. The first replica is the one that should lead."""

    place: TopicPartition
    replicas: tuple[int, ...]
    size_bytes: int = 0  # of one replica
    bytes_per_s: float = 0.0  # written by producers

    def loads_of(self, broker: int) -> Mapping[Load, float]:
        """A leader takes what is written and gives it to every follower; a follower takes it."""
        leads = self.replicas[0] == broker
        return {
            Load.DISK: float(self.size_bytes),
            Load.LEADERS: float(leads),
            Load.TRAFFIC: self.bytes_per_s * (len(self.replicas) if leads else 1),
            Load.REPLICAS: 1.0,
        }


@dataclass(frozen=True, slots=True)
class Situation:
    racks: Mapping[int, str | None]  # by broker: those that may hold replicas
    partitions: Mapping[TopicPartition, Placed]

    def loads(self) -> dict[Load, dict[int, float]]:
        found = {load: dict.fromkeys(self.racks, 0.0) for load in Load}
        for partition in self.partitions.values():
            for broker in partition.replicas:
                for load, amount in partition.loads_of(broker).items():
                    found[load][broker] += amount
        return found

    def unevenness(self) -> float:
        loads = self.loads()
        uneven = sum(_WEIGHTS[load] * _spread(loads[load].values()) for load in Load)
        return uneven + _RACK_WEIGHT * sum(map(self.rack_deficit, self.partitions.values()))

    def rack_deficit(self, partition: Placed) -> int:
        """How many more racks its replicas could be in."""
        possible = min(len(partition.replicas), len({*self.racks.values()}))
        return max(0, possible - len({self.racks[broker] for broker in partition.replicas}))


@dataclass(frozen=True, slots=True)
class Balanced:
    before: Situation
    after: Situation

    @property
    def changed(self) -> dict[TopicPartition, Placed]:
        """What is to be reassigned, as it shall be."""
        return {
            place: partition
            for place, partition in self.after.partitions.items()
            if partition.replicas != self.before.partitions[place].replicas
        }

    @property
    def bytes_to_move(self) -> int:
        return sum(
            partition.size_bytes * len(set(partition.replicas) - set(self.before.partitions[place].replicas))
            for place, partition in self.changed.items()
        )


def balance(situation: Situation, steps_max: int = 1000) -> Balanced:
    """The situation after at most so many steps. Partitions with replicas on brokers that are not among those
    of the situation must not be in it."""
    walk = _Walk(situation, steps_max)
    if situation.racks:
        walk.mend_racks()
        while walk.take_a_round():
            pass
    return Balanced(situation, replace(situation, partitions=walk.partitions))


def _spread(amounts: Iterable[float]) -> float:
    """The mean square distance from the average, relative to it."""
    values = list(amounts)
    total = sum(values)
    if total <= _NOTHING:
        return 0.0
    average = total / len(values)
    return sum((value / average - 1) ** 2 for value in values) / len(values)


class _Step(NamedTuple):
    """What the partition is afterwards, and what goes from one broker to another with it, load by load."""

    partition: Placed
    giver: int
    taker: int
    amounts: tuple[float, ...]
    moves_bytes: bool


class _Walk:
    """The loads of all brokers, kept up while steps are taken. What a step gains is found from its two
    brokers: with loads a and b, giving v away lowers the sum of squares by 2v(a - b - v)."""

    def __init__(self, situation: Situation, steps_max: int) -> None:
        self._situation = situation
        self._steps_left = steps_max
        self.partitions = dict(situation.partitions)
        loads = situation.loads()
        self._loads = {broker: [loads[load][broker] for load in Load] for broker in situation.racks}
        totals = [sum(loads[load].values()) for load in Load]
        count = len(situation.racks)
        self._factors = tuple(
            2 * _WEIGHTS[load] * count / total**2 if total > _NOTHING else 0.0
            for load, total in zip(Load, totals, strict=True)
        )
        bytes_all = totals[0]
        self._cost_per_byte = _COST_OF_ALL_BYTES / bytes_all if bytes_all > 0 else 0.0
        self._held: dict[int, set[TopicPartition]] = {broker: set() for broker in situation.racks}
        for place, partition in self.partitions.items():
            for broker in partition.replicas:
                self._held[broker].add(place)

    def mend_racks(self) -> None:
        """Replicas that share a rack and need not are set apart, where that is best for the rest."""
        deficit = self._situation.rack_deficit
        for place in sorted(self.partitions):
            while self._steps_left and (missing := deficit(self.partitions[place])):
                before = self.partitions[place]
                steps = [
                    step
                    for giver in before.replicas
                    for step in self._replacements(before, giver)
                    if deficit(step.partition) < missing
                ]
                self._take(max(steps, key=lambda step: self._gain(step) - self._cost(step)))

    def take_a_round(self) -> bool:
        """The best step between each two brokers, best first, if it still helps when its turn comes."""
        steps = [step for giver in self._most_loaded() for step in self._best_steps(giver)]
        steps.sort(key=self._worth, reverse=True)
        taken = False
        for step in steps:
            is_current = self.partitions[step.partition.place].replicas == _before(step)
            if self._steps_left and is_current and self._gain(step) > _GAIN_MIN and self._worth(step) > 0:
                self._take(step)
                taken = True
        return taken

    def _best_steps(self, giver: int) -> list[_Step]:
        best: dict[int, tuple[float, _Step]] = {}
        for place in sorted(self._held[giver]):
            partition = self.partitions[place]
            for step in (*_reorderings(partition, giver), *self._replacements(partition, giver)):
                if self._gain(step) > _GAIN_MIN:
                    worth = self._worth(step)
                    if worth > 0 and (step.taker not in best or worth > best[step.taker][0]):
                        best[step.taker] = worth, step
        return [step for _, step in best.values()]

    def _most_loaded(self) -> list[int]:
        brokers = sorted(self._loads)
        positions = [position for position, factor in enumerate(self._factors) if factor > 0]
        return sorted({max(brokers, key=lambda broker: self._loads[broker][at]) for at in positions})

    def _replacements(self, partition: Placed, giver: int) -> Iterator[_Step]:
        """No step puts replicas into fewer racks than they are in."""
        deficit = self._situation.rack_deficit
        amounts = tuple(partition.loads_of(giver).values())
        missing = deficit(partition)
        for taker in self._situation.racks:
            if taker in partition.replicas:
                continue
            replicas = tuple(taker if broker == giver else broker for broker in partition.replicas)
            after = replace(partition, replicas=replicas)
            if deficit(after) <= missing:
                yield _Step(after, giver, taker, amounts, True)

    def _gain(self, step: _Step) -> float:
        rows = zip(self._factors, step.amounts, self._loads[step.giver], self._loads[step.taker], strict=True)
        return sum(factor * amount * (more - less - amount) for factor, amount, more, less in rows)

    def _cost(self, step: _Step) -> float:
        return self._cost_per_byte * step.partition.size_bytes if step.moves_bytes else 0.0

    def _worth(self, step: _Step) -> float:
        return self._gain(step) - self._cost(step)

    def _take(self, step: _Step) -> None:
        self._steps_left -= 1
        giving, taking = self._loads[step.giver], self._loads[step.taker]
        for at, amount in enumerate(step.amounts):
            giving[at] -= amount
            taking[at] += amount
        place = step.partition.place
        if step.moves_bytes:
            self._held[step.giver].discard(place)
            self._held[step.taker].add(place)
        self.partitions[place] = step.partition


def _reorderings(partition: Placed, leader: int) -> Iterator[_Step]:
    """Others of its replicas as preferred leaders, where this broker is it."""
    if partition.replicas[0] != leader:
        return
    given = {Load.LEADERS: 1.0, Load.TRAFFIC: partition.bytes_per_s * (len(partition.replicas) - 1)}
    amounts = tuple(given.get(load, 0.0) for load in Load)
    for taker in partition.replicas[1:]:
        after = replace(partition, replicas=_exchanged(partition.replicas, leader, taker))
        yield _Step(after, leader, taker, amounts, False)


def _before(step: _Step) -> tuple[int, ...]:
    """The replicas that the step starts from."""
    replicas = step.partition.replicas
    if step.moves_bytes:
        return tuple(step.giver if broker == step.taker else broker for broker in replicas)
    return _exchanged(replicas, step.taker, step.giver)


def _exchanged(replicas: tuple[int, ...], one: int, other: int) -> tuple[int, ...]:
    names = {one: other, other: one}
    return tuple(names.get(broker, broker) for broker in replicas)
