"""What is known of files that may not be in memory: stretches that are, for how long that is believed, and
what workers are about to make of them. One for every place at which somebody reads, a few in each file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

_FILES_MAX = 1024
_IN_A_FILE_MAX = 8
_BEHIND = 1 << 24  # kept behind a reader: of its own reply that is still leaving, and for others close to it


class Stretch:
    """A part of a file that is in memory, and how far a worker is about to make it longer."""

    __slots__ = ("believed_until_ms", "end", "end_soon", "is_dear", "is_ours", "start", "waiting")

    def __init__(self, start: int, end: int, believed_until_ms: int, *, is_ours: bool) -> None:
        self.start = start
        self.end = end
        self.end_soon = end
        self.believed_until_ms = believed_until_ms
        self.is_ours = is_ours  # a worker read it, and reads on behind it
        self.is_dear = False  # to fill memory with it took long: what was read is given back for the rest
        self.waiting: list[Callable[[], None]] = []  # for the worker who is at it

    def covers(self, start: int, end: int, now_ms: int) -> bool:
        return self.start <= start and end <= self.end and now_ms < self.believed_until_ms

    def will_cover(self, start: int, end: int) -> bool:
        return self.end < self.end_soon and self.start <= start and end <= self.end_soon

    def is_live(self, now_ms: int) -> bool:
        """Somebody relies on it, or will when the worker is done, however long the disk takes."""
        return now_ms < self.believed_until_ms or self.end < self.end_soon


class Stretches:
    def __init__(self) -> None:
        self._of: dict[int, list[Stretch]] = {}  # by descriptor

    def of(self, fd: int) -> Iterable[Stretch]:
        return self._of.get(fd, ())

    def remember(self, fd: int, new: Stretch, now_ms: int) -> None:
        """Instead of what is no longer believed, and of what the same reader has passed."""
        if len(self._of) >= _FILES_MAX:
            self._of.clear()
        kept = [old for old in self._of.get(fd, ()) if old.is_live(now_ms) and not _is_passed(old, new)]
        self._of[fd] = [*kept[1 - _IN_A_FILE_MAX :], new]

    def pass_by(self, fd: int, known: Stretch, now_ms: int) -> tuple[int, int]:
        """Forget the part that lies well behind the reader. Returns it; an empty one if somebody else is
        there or still has to come by."""
        start, end = known.start, max(known.start, known.end - _BEHIND)
        known.start = end
        others = (other for other in self.of(fd) if other is not known)
        if any(other.start < end and other.is_live(now_ms) for other in others):
            return end, end
        return start, end


def _is_passed(old: Stretch, new: Stretch) -> bool:
    """It was found in memory, and its reader asks for what comes next."""
    return not old.is_ours and old.start <= new.start <= old.end
