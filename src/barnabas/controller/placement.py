"""Which brokers hold a new partition.

Leaders go round the active brokers, racks alternating. Followers visit every rack before any rack twice, and
within a rack the broker that has waited longest. Fenced brokers lead nothing and follow only when a rack has
nobody else left. After each round the queues are shuffled among equals, so that the partitions one broker
leads have different followers, and its load spreads when it fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, MutableSequence
from itertools import zip_longest
from typing import TypeVar

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import BrokerImage
from barnabas.ports import Random

Item = TypeVar("Item")


def place(
    brokers: Iterable[BrokerImage], partition_count: int, replication_factor: int, random: Random
) -> list[tuple[int, ...]]:
    """Replicas per partition, the preferred leader first. INVALID_REPLICATION_FACTOR if it cannot be done."""
    candidates = sorted(brokers, key=lambda broker: broker.id)
    _check_possible(candidates, replication_factor)
    placer = _Placer(candidates, random)
    return [placer.next_partition(replication_factor) for _ in range(partition_count)]


def _check_possible(brokers: list[BrokerImage], replication_factor: int) -> None:
    if replication_factor <= 0:
        problem = f"Invalid replication factor {replication_factor}: the replication factor must be positive."
    elif all(broker.fenced or broker.leaving for broker in brokers):
        problem = "All brokers are currently fenced, or have all their log directories cordoned."
    elif replication_factor > len(brokers):
        problem = (
            f"The target replication factor of {replication_factor} cannot be reached because only "
            f"{len(brokers)} broker(s) are registered "
            "or some brokers have all their log directories cordoned."
        )
    else:
        return
    raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, problem)


class _Placer:
    def __init__(self, brokers: list[BrokerImage], random: Random) -> None:
        self._random = random
        self._rack_of = {broker.id: broker.rack for broker in brokers}
        self._active: dict[str | None, list[int]] = {}
        self._fenced: dict[str | None, list[int]] = {}
        for broker in brokers:
            queues = self._fenced if broker.fenced or broker.leaving else self._active
            queues.setdefault(broker.rack, []).append(broker.id)
        self._racks = sorted({broker.rack for broker in brokers}, key=lambda rack: (rack is not None, rack))
        self._leaders = _alternating([self._active.get(rack, []) for rack in self._racks])
        self._turn = random.below(len(self._leaders))
        self._turns_left = 0
        self._load: Counter[int] = Counter()
        self._rack_load: Counter[str | None] = Counter()

    def next_partition(self, replication_factor: int) -> tuple[int, ...]:
        if self._turns_left == 0:
            self._shuffle()
            self._turns_left = len(self._leaders)
        leader = self._leaders[self._turn]
        self._turn = (self._turn + 1) % len(self._leaders)
        self._turns_left -= 1
        chosen = [leader]
        lap = {self._rack_of[leader]}
        while len(chosen) < replication_factor:
            rack = self._next_rack(lap, chosen)
            if rack is _NO_RACK:
                lap = set()  # every rack that has someone left was visited: begin the next lap
                continue
            lap.add(rack)
            chosen.append(self._next_broker(rack, chosen))
        self._load.update(chosen)
        self._rack_load.update(self._rack_of[broker] for broker in chosen)
        return tuple(chosen)

    def _next_rack(self, lap: set[str | None], chosen: list[int]) -> str | None:
        for rack in self._racks:
            if rack not in lap and self._waiting(rack, chosen) is not None:
                _to_the_end(self._racks, rack)
                return rack
        return _NO_RACK

    def _next_broker(self, rack: str | None, chosen: list[int]) -> int:
        broker = self._waiting(rack, chosen)
        assert broker is not None
        _to_the_end((self._active if broker in self._active.get(rack, ()) else self._fenced)[rack], broker)
        return broker

    def _waiting(self, rack: str | None, chosen: list[int]) -> int | None:
        for queues in (self._active, self._fenced):
            for broker in queues.get(rack, ()):
                if broker not in chosen:
                    return broker
        return None

    def _shuffle(self) -> None:
        """Whoever holds least goes first; chance decides among equals."""
        _shuffle(self._racks, self._random)
        self._racks.sort(key=self._rack_load.__getitem__)
        for queues in (self._active, self._fenced):
            for queue in queues.values():
                _shuffle(queue, self._random)
                queue.sort(key=self._load.__getitem__)


_NO_RACK = "\0"  # None is a rack: the one of brokers that name none


def _alternating(racks: list[list[int]]) -> list[int]:
    """First broker of each rack, then the second of each, and so on."""
    return [broker for row in zip_longest(*racks) for broker in row if broker is not None]


def _to_the_end(queue: MutableSequence[Item], item: Item) -> None:
    queue.remove(item)
    queue.append(item)


def _shuffle(items: MutableSequence[Item], random: Random) -> None:
    for last in range(len(items) - 1, 0, -1):
        other = random.below(last + 1)
        items[last], items[other] = items[other], items[last]
