"""What may go wrong, and when: all of it from the seed."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from enum import Enum

from barnabas.sim.clients import Client
from barnabas.sim.host import Host
from barnabas.sim.world import World

_DOWN_MS = 60
_LATEST_MS = 500
_CHANGES_MAX = 60
_SLOW_MS = 150
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


class Faults:
    def __init__(self, world: World, host: Host, clients: Sequence[Client], kinds: Sequence[Kind]) -> None:
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
        }
        self.over = False
        self._failed: str | None = None
        for _ in range(world.random.between(1, 5)):
            self._plan(world.random.pick(kinds))
        world.after(_LATEST_MS, self._end)
        self._watch()

    def _plan(self, kind: Kind) -> None:
        self._world.after(self._world.random.between(0, _LATEST_MS), lambda: self.strike(kind))

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
        client = self._world.random.pick(self._clients)
        if client.is_connected:
            client.try_again()

    def _jump(self) -> None:
        self._host.jump_clock(self._world.random.pick((-_TEN_MINUTES_MS, -1000, 1000, _TEN_MINUTES_MS)))
