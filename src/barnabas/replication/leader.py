"""What a leader knows of its followers, and what follows from it: how far the log is committed, who may join
the in-sync replicas, who has fallen behind.

A change of the in-sync replicas counts only once the controller has committed it. Until then the leader waits
for whoever may be in sync already (`maximal`): it cannot know whether its proposal was carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from barnabas.model.image import PartitionImage

UNKNOWN_OFFSET = -1
UNKNOWN_EPOCH = -1
_NEVER_MS = -(1 << 62)

# Asked of a broker's id and the epoch it fetched with: could it join the in-sync replicas now?
MayJoin: TypeAlias = Callable[[int, int], bool]


# --- the in-sync replicas --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Committed:
    isr: frozenset[int]

    @property
    def maximal(self) -> frozenset[int]:
        return self.isr


@dataclass(frozen=True, slots=True)
class PendingExpand:
    isr: frozenset[int]
    joining: int

    @property
    def maximal(self) -> frozenset[int]:
        return self.isr | {self.joining}

    @property
    def proposed(self) -> frozenset[int]:
        return self.isr | {self.joining}


@dataclass(frozen=True, slots=True)
class PendingShrink:
    isr: frozenset[int]
    leaving: frozenset[int]

    @property
    def maximal(self) -> frozenset[int]:
        return self.isr

    @property
    def proposed(self) -> frozenset[int]:
        return self.isr - self.leaving


InSync: TypeAlias = Committed | PendingExpand | PendingShrink


# --- one follower ----------------------------------------------------------------------------------------


class Position(NamedTuple):
    """What a follower's fetch says of itself: everything below `log_end_offset` is safe there."""

    log_end_offset: int
    log_start_offset: int
    broker_epoch: int


class Follower:
    __slots__ = (
        "_last_fetch_ms", "_last_leader_end_offset", "broker_epoch", "last_caught_up_ms", "log_end_offset",
        "log_start_offset",
    )  # fmt: skip

    def __init__(self, last_caught_up_ms: int) -> None:
        self.log_end_offset = UNKNOWN_OFFSET
        self.log_start_offset = UNKNOWN_OFFSET
        self.broker_epoch = UNKNOWN_EPOCH
        self.last_caught_up_ms = last_caught_up_ms
        self._last_fetch_ms = _NEVER_MS
        self._last_leader_end_offset = UNKNOWN_OFFSET

    def fetched(self, position: Position, leader_end_offset: int, now_ms: int) -> None:
        """Whoever has now what the leader had at the fetch before was caught up then, even if it never meets
        the end of a log that grows all the time."""
        if position.log_end_offset >= leader_end_offset:
            self.last_caught_up_ms = max(self.last_caught_up_ms, now_ms)
        elif position.log_end_offset >= self._last_leader_end_offset:
            self.last_caught_up_ms = max(self.last_caught_up_ms, self._last_fetch_ms)
        self.log_end_offset, self.log_start_offset, self.broker_epoch = position
        self._last_fetch_ms = now_ms
        self._last_leader_end_offset = leader_end_offset

    def stands_at(self, position: Position) -> bool:
        return position == (self.log_end_offset, self.log_start_offset, self.broker_epoch)

    def is_caught_up(self, leader_end_offset: int, now_ms: int, lag_ms_max: int) -> bool:
        return self.log_end_offset == leader_end_offset or now_ms - self.last_caught_up_ms <= lag_ms_max


# --- the leader ------------------------------------------------------------------------------------------


class Leading:
    """One partition during one leader epoch."""

    __slots__ = ("_own_id", "epoch_start_offset", "followers", "in_sync", "leader_epoch", "partition_epoch")

    def __init__(self, image: PartitionImage, own_id: int, epoch_start_offset: int, now_ms: int) -> None:
        self._own_id = own_id
        self.leader_epoch = image.leader_epoch
        self.partition_epoch = image.partition_epoch
        self.epoch_start_offset = epoch_start_offset
        self.in_sync: InSync = Committed(frozenset(image.isr))
        # Where followers are is not known yet, even if we led them before: another leader may have come
        # between, and what they acknowledged to us may be cut off again.
        self.followers: dict[int, Follower] = {}
        self._know(image, now_ms)

    def adopt(self, image: PartitionImage, now_ms: int) -> bool:
        """The same leader in the same epoch: what was proposed is decided if the partition's epoch moved.
        Whether others are in sync now."""
        assert image.leader_epoch == self.leader_epoch
        before, isr = self.in_sync.isr, frozenset(image.isr)
        if image.partition_epoch != self.partition_epoch:
            self.partition_epoch = image.partition_epoch
            self.in_sync = Committed(isr)
        self._know(image, now_ms)
        return before != isr

    def _know(self, image: PartitionImage, now_ms: int) -> None:
        others = {*image.replicas, *image.isr} - {self._own_id}
        for gone in self.followers.keys() - others:
            del self.followers[gone]
        for new in others - self.followers.keys():
            self.followers[new] = Follower(now_ms if new in image.isr else _NEVER_MS)

    def committed_offset(
        self, own_end_offset: int, leader_end_offset: int, now_ms: int, lag_ms_max: int, may_join: MayJoin
    ) -> int:
        """Below it every record is with all who are in sync. A follower about to join holds it back, too: one
        that must meet the end of a log that is written to all the time would never join."""
        lowest = own_end_offset
        maximal = self.in_sync.maximal
        for broker_id, follower in self.followers.items():
            if follower.log_end_offset < lowest and (
                broker_id in maximal
                or (
                    follower.is_caught_up(leader_end_offset, now_ms, lag_ms_max)
                    and may_join(broker_id, follower.broker_epoch)
                )
            ):
                lowest = follower.log_end_offset
        return lowest

    def may_propose(self, broker_id: int, high_watermark: int) -> bool:
        """Whether the follower holds all that is committed, and all that our epoch began with: until it has
        reached that, it may still have to cut its log."""
        follower = self.followers.get(broker_id)
        return (
            follower is not None
            and isinstance(self.in_sync, Committed)
            and broker_id not in self.in_sync.isr
            and follower.log_end_offset >= max(high_watermark, self.epoch_start_offset)
        )

    def expand(self, broker_id: int) -> None:
        assert isinstance(self.in_sync, Committed)
        self.in_sync = PendingExpand(self.in_sync.isr, broker_id)

    def shrink(self, leader_end_offset: int, now_ms: int, lag_ms_max: int) -> bool:
        """Propose to go on without those who have fallen behind, if there are any."""
        if not isinstance(self.in_sync, Committed):
            return False
        behind = frozenset(
            broker_id
            for broker_id in self.in_sync.isr & self.followers.keys()
            if not self.followers[broker_id].is_caught_up(leader_end_offset, now_ms, lag_ms_max)
        )
        if behind:
            self.in_sync = PendingShrink(self.in_sync.isr, behind)
        return bool(behind)

    def refused(self) -> None:
        """The controller has surely not done what we proposed."""
        self.in_sync = Committed(self.in_sync.isr)

    def low_watermark(self, own_start_offset: int, alive: Collection[int]) -> int:
        """Below it no living replica holds a record any more."""
        starts = [each.log_start_offset for broker_id, each in self.followers.items() if broker_id in alive]
        return min([own_start_offset, *starts])
