"""How large a run is: quick for a look, normal for the table, long for the large backlogs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    name: str
    seconds: float
    """How long a timed load lasts."""
    share: float
    """Of the normal number of records or bytes."""
    backlog_bytes: int
    """Of the cold reader and of the compaction."""

    @property
    def disk_bytes(self) -> int:
        """What all rows of one broker leave until their round ends, of both together: 56 GB were seen."""
        return self.bytes(60_000_000_000)

    def records(self, normal: int) -> int:
        return int(normal * self.share)

    def bytes(self, normal: int) -> int:
        return int(normal * self.share)


QUICK = Scale("quick", 1.0, 0.2, 300_000_000)
NORMAL = Scale("normal", 3.0, 1.0, 2_000_000_000)
LONG = Scale("long", 10.0, 4.0, 10_000_000_000)
