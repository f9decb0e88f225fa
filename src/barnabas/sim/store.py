"""The metadata store of a simulated broker: what a synced SQLite file does, without the file.

A submission is carried out some time after it was made, and is durable from then on; its answer comes later
still. A crash loses what was not yet carried out, and every answer under way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from barnabas.ports import Completed, Read, StoreEvent, StoreLostError, Write
from barnabas.sim.disk import SimulatedDisk
from barnabas.store.memory import MemoryHome, MemoryStore

_SLOWEST_COMMIT_MS = 4


class Life(Protocol):
    """What happens only if the process is still alive by then."""

    def soon(self, most_ms: int, action: Callable[[], None]) -> None: ...


class SimulatedStore:
    """`ports.MetadataStore` for one life of a broker; the `MemoryHome` outlives it."""

    def __init__(self, life: Life, home: MemoryHome, disk: SimulatedDisk, directory: str) -> None:
        self._life = life
        self._inner = MemoryStore(home)
        self._disk = disk
        self._file = f"{directory}/metadata.db"
        self._waiting: deque[tuple[int, Sequence[Read] | Sequence[Write]]] = deque()
        self._done: list[StoreEvent] = []
        self._tickets: dict[int, int] = {}
        self._last_ticket = 0
        self._notify: Callable[[], None] = lambda: None

    def start(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        self._inner.start(lambda: None)
        self._take()
        self._life.soon(_SLOWEST_COMMIT_MS, notify)

    def submit(self, operations: Sequence[Read] | Sequence[Write]) -> int:
        self._last_ticket += 1
        self._waiting.append((self._last_ticket, operations))
        self._life.soon(_SLOWEST_COMMIT_MS, self._carry_out)
        return self._last_ticket

    def events(self) -> list[StoreEvent]:
        taken, self._done = self._done, []
        return taken

    def close(self) -> None:
        while self._waiting:
            self._carry_out()
        self.die()

    def die(self) -> None:
        """Ephemeral nodes of a dead session are gone when the file is opened again."""
        self._waiting.clear()
        self._inner.close()

    def _carry_out(self) -> None:
        if not self._waiting:
            return
        ticket, operations = self._waiting.popleft()
        try:
            # The file lies in the first log directory, and shares its fate.
            self._disk.check(self._file, writing=True)
            self._disk.count_change()
        except OSError:
            self._done.append(Completed(ticket, error=StoreLostError()))
        else:
            self._tickets[self._inner.submit(operations)] = ticket
            self._take()
        self._life.soon(_SLOWEST_COMMIT_MS, self._notify)

    def _take(self) -> None:
        for event in self._inner.events():
            if isinstance(event, Completed):
                event = Completed(self._tickets.pop(event.ticket), event.answers, event.error)
            self._done.append(event)
