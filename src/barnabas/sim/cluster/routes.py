"""Who reaches whom: cuts that go one way or both, and detours that take long.

What is under way when a route is cut is not lost but waits, as TCP would have it: it arrives when the cut is
mended, which may be long after anybody still waited for it; or the line is given up by one of its ends.
"""

from __future__ import annotations

from collections.abc import Callable

from barnabas.sim.world import World

ENSEMBLE = 0  # brokers count from one upwards, clients from minus one downwards
_LOOK_AGAIN_MS = 25


class Routes:
    def __init__(self, world: World) -> None:
        self._world = world
        self._cut: set[tuple[int, int]] = set()
        self._delays_ms: dict[tuple[int, int], int] = {}

    def is_cut(self, source: int, target: int) -> bool:
        return (source, target) in self._cut

    def is_whole(self, one: int, other: int) -> bool:
        return not (self.is_cut(one, other) or self.is_cut(other, one))

    def cut(self, source: int, target: int) -> None:
        """One way only."""
        self._cut.add((source, target))

    def delay(self, source: int, target: int, most_ms: int) -> None:
        self._delays_ms[source, target] = most_ms

    def mend(self) -> None:
        self._cut.clear()
        self._delays_ms.clear()

    def carry(self, source: int, target: int, most_ms: int, action: Callable[[], None]) -> None:
        """Let it happen at the other end, as soon as the route lets it through."""
        most_ms += self._delays_ms.get((source, target), 0)
        self._world.soon(most_ms, lambda: self._arrive(source, target, action))

    def _arrive(self, source: int, target: int, action: Callable[[], None]) -> None:
        if self.is_cut(source, target):
            self._world.after(_LOOK_AGAIN_MS, lambda: self._arrive(source, target, action))
        else:
            action()


class Between:
    """`Route` of a connection that `client` opened to `server`."""

    def __init__(self, routes: Routes, client: int, server: int) -> None:
        self._routes = routes
        self._client = client
        self._server = server

    def to_server(self, most_ms: int, action: Callable[[], None]) -> None:
        self._routes.carry(self._client, self._server, most_ms, action)

    def to_client(self, most_ms: int, action: Callable[[], None]) -> None:
        self._routes.carry(self._server, self._client, most_ms, action)
