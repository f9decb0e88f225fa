"""The states of a classic group, what each carries, and which may follow which.

              +--------- all left ---------+
              v                            |
    Empty -> PreparingRebalance -> CompletingRebalance -> Stable
                 ^  ^                 |                     |
                 |  +-- a change -----+                     |
                 +------ a change --------------------------+

There is no Dead object: a group that is removed leaves the shard's dictionary, and "Dead" is how a group that
does not exist is described.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

DEAD = "Dead"


@dataclass(slots=True)
class Empty:
    """Nobody is in; perhaps some were told to come back with a member id."""

    name: ClassVar[str] = "Empty"


@dataclass(slots=True)
class PreparingRebalance:
    """Waiting for everybody's JoinGroup. After Empty, one more delay for each wave of new members."""

    name: ClassVar[str] = "PreparingRebalance"
    initial: bool
    has_new_member: bool = False


@dataclass(slots=True)
class CompletingRebalance:
    """Waiting for the leader's assignment. `unsynced` have not sent SyncGroup yet."""

    name: ClassVar[str] = "CompletingRebalance"
    unsynced: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Stable:
    name: ClassVar[str] = "Stable"
    unsynced: set[str] = field(default_factory=set)


State: TypeAlias = Empty | PreparingRebalance | CompletingRebalance | Stable

_MAY_FOLLOW: dict[type[State], tuple[type[State], ...]] = {
    Empty: (PreparingRebalance,),
    PreparingRebalance: (CompletingRebalance, Empty),
    CompletingRebalance: (Stable, PreparingRebalance),
    Stable: (PreparingRebalance,),
}


def may_follow(old: State, new: State) -> bool:
    return type(new) in _MAY_FOLLOW[type(old)]
