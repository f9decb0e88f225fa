"""A follower's side of an incremental fetch session (KIP-227): what its leader knows that we ask for.

A request says only what changed since the one before. Whenever the two may disagree (an answer that did not
come, an error), everything is said again, in a new session.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

NO_SESSION = 0
FULL = 0  # the epoch of a request that says everything
_EPOCH_MAX = 2**31 - 1

Place: TypeAlias = tuple[bytes, int]  # topic id and index


class Asked(NamedTuple):
    """What is asked of one partition, and what that tells the leader about us."""

    leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    log_start_offset: int
    high_watermark: int


class FollowerSession:
    __slots__ = ("epoch", "id", "known")

    def __init__(self) -> None:
        self.id = NO_SESSION
        self.epoch = FULL
        self.known: dict[Place, Asked] = {}  # as the leader has heard it last

    @property
    def is_incremental(self) -> bool:
        return self.epoch != FULL

    def begin_again(self) -> None:
        """The next request says everything, and lets the leader forget the session that there was."""
        self.epoch = FULL
        self.known.clear()

    def forgotten(self) -> None:
        """The leader does not know the session any more."""
        self.id = NO_SESSION
        self.begin_again()

    def tell(self, place: Place, asked: Asked) -> bool:
        """Whether the next request must mention the partition."""
        if self.known.get(place) == asked:
            return False
        self.known[place] = asked
        return True

    def leave_out(self, place: Place) -> bool:
        """Whether the next request must say that the partition is not asked for any more."""
        return self.known.pop(place, None) is not None

    def answered(self, session_id: int) -> None:
        """The leader has no room for us where it names no session: then everything is said each time."""
        if session_id != self.id:
            self.id, self.epoch = session_id, FULL
        if session_id == NO_SESSION:
            self.epoch = FULL
        else:
            self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1
