"""What may go wrong, and when: all of it from the seed."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from enum import Enum

from barnabas.sim.clients import Client
from barnabas.sim.host import Host
from barnabas.sim.scripts import Actor
from barnabas.sim.world import World

_DOWN_MS = 60
_CHANGES_MAX = 60
_SLOW_MS = 150
_FREEZE_MS = (50, 900)
_STRAY_MS = 300
_TEN_MINUTES_MS = 600_000  # five of them stay within message.timestamp.after.max.ms


class Kind(Enum):
    KILL = "the process dies between two events"
    KILL_INSIDE = "the process dies between two changes of the disk"
    POWER_LOSS = "the power fails between two events"
    POWER_LOSS_INSIDE = "the power fails between two changes of the disk"
    KILL_THEN_POWER_LOSS = (
        "the power fails soon after the process came back: what it read back was never synced"
    )
    STOP = "somebody stops the broker in good order"
    SLOW_DISK = "syncs take long"
    IO_ERROR = "a directory answers EIO"
    FULL_DISK = "a directory answers ENOSPC"
    DISCONNECT = "a client loses its connection, and what is under way"
    CLOCK_JUMP = "the wall clock is set"
    FREEZE = "a client stops for a while and goes on as if nothing had been"
    STRAY = "a client loses its connection; its request arrives when it has long asked again"


class Faults:
    def __init__(
        self,
        world: World,
        host: Host,
        clients: Callable[[], Sequence[Client]],
        kinds: Sequence[Kind],
        *,
        most: int = 5,
        latest_ms: int = 500,
    ) -> None:
        self._world = world
        self._host = host
        self._clients = clients
        self._ways: dict[Kind, Callable[[], None]] = {
            Kind.KILL: host.kill,
            Kind.KILL_INSIDE: lambda: self._inside(host.kill),
            Kind.POWER_LOSS: host.power_loss,
            Kind.POWER_LOSS_INSIDE: lambda: self._inside(host.power_loss),
            Kind.KILL_THEN_POWER_LOSS: self._kill_then_power_loss,
            Kind.STOP: host.stop_orderly,
            Kind.SLOW_DISK: self._slow,
            Kind.IO_ERROR: lambda: self._fail(errno.EIO),
            Kind.FULL_DISK: lambda: self._fail(errno.ENOSPC),
            Kind.DISCONNECT: self._disconnect,
            Kind.CLOCK_JUMP: self._jump,
            Kind.FREEZE: self._freeze,
            Kind.STRAY: self._stray,
        }
        self.over = False
        self._failed: str | None = None
        self._latest_ms = latest_ms
        for _ in range(world.random.between(1, most) if kinds else 0):
            self._plan(world.random.pick(kinds))
        world.after(latest_ms, self._end)
        self._watch()

    def _plan(self, kind: Kind) -> None:
        self._world.after(self._world.random.between(0, self._latest_ms), lambda: self.strike(kind))

    def strike(self, kind: Kind) -> None:
        self._ways[kind]()

    def _watch(self) -> None:
        """Somebody starts the broker whenever it is down, also while it should not be."""
        if self._host.life is None:
            if not self._host.metadata_reachable:
                self._repair()
            self._host.start()
        self._world.after(self._world.random.between(1, _DOWN_MS), self._watch)

    def _end(self) -> None:
        """From now on nothing goes wrong any more."""
        self.over = True
        self._host.slowness.most_ms = 5
        self._host.disk.call_off()
        self._repair()

    def _inside(self, how: Callable[[], None]) -> None:
        if self._host.life is not None:
            self._host.fall_after(self._world.random.below(_CHANGES_MAX), how)

    def _kill_then_power_loss(self) -> None:
        self._host.kill()
        self._host.start()
        self._world.after(self._world.random.between(20, 90), self._host.power_loss)

    def _slow(self) -> None:
        slowness = self._host.slowness
        slowness.most_ms = _SLOW_MS
        self._world.soon(2 * _SLOW_MS, lambda: setattr(slowness, "most_ms", 5))

    def _fail(self, code: int) -> None:
        """One directory at a time: others must go on."""
        if self._failed is None:
            self._failed = self._world.random.pick(self._host.settings.log_dirs)
            self._host.fail_directory(self._failed, code)

    def _repair(self) -> None:
        """Whoever changes a disk restarts the broker."""
        if self._failed is not None:
            self._failed = None
            self._host.repair()
            self._host.stop_process()

    def _disconnect(self) -> None:
        client = self._anybody()
        if client is not None and client.is_connected:
            client.try_again()

    def _freeze(self) -> None:
        client = self._anybody()
        if isinstance(client, Actor):
            client.freeze(self._world.random.between(*_FREEZE_MS))

    def _stray(self) -> None:
        client = self._anybody()
        if client is not None:
            client.stray(_STRAY_MS)

    def _anybody(self) -> Client | None:
        clients = [client for client in self._clients() if not client.finished]
        return self._world.random.pick(clients) if clients else None

    def _jump(self) -> None:
        self._host.jump_clock(self._world.random.pick((-_TEN_MINUTES_MS, -1000, 1000, _TEN_MINUTES_MS)))
