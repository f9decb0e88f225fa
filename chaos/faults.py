"""What happens, to whom, for how long and when: a sequence that a seed decides."""

from __future__ import annotations

import random
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    KILL = "kill -9, back at once"
    KILL_AND_WAIT = "kill -9, back after its session"
    RESTART = "clean restart"
    PAUSE = "paused (SIGSTOP)"
    EMPTY_DISK = "kill -9, disk emptied"
    ZOOKEEPER_LEADER = "ZooKeeper's leader killed"
    CUT_CLIENTS = "clients cut off"
    CUT_BROKERS = "cut off from the other brokers"
    STALL_BROKERS = "other brokers unheard (stalled)"


# Of the whole that each kind has; a disk is lost less often than a process.
_WEIGHTS = {
    Kind.KILL: 3,
    Kind.KILL_AND_WAIT: 4,
    Kind.RESTART: 2,
    Kind.PAUSE: 3,
    Kind.EMPTY_DISK: 2,
    Kind.ZOOKEEPER_LEADER: 2,
    Kind.CUT_CLIENTS: 2,
    Kind.CUT_BROKERS: 3,
    Kind.STALL_BROKERS: 2,
}


class Fault(NamedTuple):
    after_s: float  # since the one before was over
    kind: Kind
    broker: int
    lasting_s: float


def faults(seed: int, broker_count: int) -> Iterator[Fault]:
    """Without end. Every kind comes once, in an order of its own, before they come by chance."""
    chance = random.Random(seed)
    first = list(Kind)
    chance.shuffle(first)
    kinds, weights = list(_WEIGHTS), list(_WEIGHTS.values())
    while True:
        kind = first.pop() if first else chance.choices(kinds, weights)[0]
        yield Fault(
            after_s=chance.uniform(1.0, 5.0),
            kind=kind,
            broker=chance.randrange(broker_count),
            lasting_s=chance.uniform(0.5, 6.0)
            if kind is not Kind.KILL_AND_WAIT
            else chance.uniform(3.0, 6.0),
        )
