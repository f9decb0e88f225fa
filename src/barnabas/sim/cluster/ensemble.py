"""A ZooKeeper ensemble as its clients see it: one tree, and sessions that end when nobody hears of them.

A session whose owner is silent (dead, stopped, cut off) is ended its timeout later: only then are its
ephemeral nodes gone. While the ensemble itself is out, no session ends.
"""

from __future__ import annotations

from barnabas.ports import Delete
from barnabas.sim.world import World
from barnabas.store.memory import MemoryHome, Watcher


class Ensemble:
    def __init__(self, world: World, session_timeout_ms: int) -> None:
        self.world = world
        self.session_timeout_ms = session_timeout_ms
        self.home = MemoryHome()
        self.is_out = False
        self._silences: dict[int, int] = {}  # session to the number of its silence
        self._last_silence = 0

    def begin(self, owner: Watcher) -> int:
        return self.home.begin(owner)

    def knows(self, session_id: int) -> bool:
        return session_id in self.home.sessions

    def end(self, session_id: int) -> None:
        self._silences.pop(session_id, None)
        if self.knows(session_id):
            self.home.end(session_id)

    def delete(self, path: str) -> None:
        """Somebody with a shell does it."""
        _, changes = self.home.tree.write([Delete(path, missing_ok=True)], 0)
        self.home.publish(changes)

    @property
    def awaits_an_end(self) -> bool:
        """Whether a session that nobody has heard of is about to end."""
        return bool(self._silences)

    def silent(self, session_id: int) -> None:
        if self.knows(session_id) and session_id not in self._silences:
            self._last_silence += 1
            self._silences[session_id] = self._last_silence
            self._await_end(session_id, self._last_silence)

    def heard(self, session_id: int) -> None:
        self._silences.pop(session_id, None)

    def _await_end(self, session_id: int, silence: int) -> None:
        """The ensemble heard from it last a while ago, and rounds up to its own ticks."""
        timeout_ms = self.session_timeout_ms
        wait_ms = self.world.random.between(timeout_ms * 2 // 3, timeout_ms * 7 // 6)
        self.world.after(wait_ms, lambda: self._too_long(session_id, silence))

    def _too_long(self, session_id: int, silence: int) -> None:
        if self._silences.get(session_id) != silence:
            return
        if self.is_out:
            self._await_end(session_id, silence)
        else:
            self.end(session_id)
