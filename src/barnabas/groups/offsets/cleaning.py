"""Every `offsets.retention.check.interval.ms`: offsets nobody came for, and groups with nothing left."""

from __future__ import annotations

from barnabas.coordination.outcome import Entry, Outcome, ShardHost
from barnabas.groups.group import Group
from barnabas.groups.offsets.removal import ENTRIES_MAX, expired
from barnabas.groups.offsets.store import Offsets

# Looked at before other requests get their turn: ten thousand groups must not hold the broker up.
GROUPS_AT_ONCE = 500
_MINUTE_MS = 60_000
_NEXT_TURN_MS = 1


class Cleaning:
    def __init__(self, host: ShardHost, groups: dict[str, Group], offsets: Offsets) -> None:
        self._host = host
        self._groups = groups
        self._offsets = offsets

    def schedule(self) -> None:
        interval_ms = self._host.settings.integer("offsets.retention.check.interval.ms")
        self._host.timers.schedule("cleaning", interval_ms, lambda: self._clean(list(self._groups)))

    def _clean(self, left: list[str]) -> Outcome:
        now_ms = self._host.wall_ms
        retention_ms = self._host.settings.integer("offsets.retention.minutes") * _MINUTE_MS
        entries: list[Entry] = []
        for _ in range(min(GROUPS_AT_ONCE, len(left))):
            group = self._groups.get(left[-1])
            if group is not None:
                entries += expired(self._offsets, group, now_ms, retention_ms)
            if len(entries) > ENTRIES_MAX:
                break  # the rest of this group is found again at the next turn; its own record comes last
            left.pop()
        if left:
            self._host.timers.schedule("cleaning", _NEXT_TURN_MS, lambda: self._clean(left))
        else:
            self.schedule()
        return Outcome(entries[:ENTRIES_MAX])
