"""Keeps the processes of a local cluster alive: `python -m barnabas.runtime.supervisor DIR`.

Before every step it reads the plan again: a signal (SIGHUP) only says that there is something new in it. What
dies is started again, later and later while it keeps dying. SIGTERM stops the brokers one after the other,
the newest first and the controller after the others, because they hand over their leaders through it; and
ZooKeeper last. Processes outlive a supervisor that is killed; the next one goes on with them, or (`--stop`)
only ends them.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import socket
import sys
import time
from types import FrameType

from barnabas.java import JavaError
from barnabas.runtime import logs
from barnabas.runtime.cluster_contact import find_controller
from barnabas.runtime.cluster_plan import ZOOKEEPER, ClusterDirectory, Plan
from barnabas.runtime.supervised import Supervised
from barnabas.runtime.zookeeper import ZookeeperUnavailableError, server_command

log = logging.getLogger("barnabas.supervisor")

_LOOK_S = 0.5  # how long a change that nobody signalled may wait


class Supervisor:
    def __init__(self, directory: ClusterDirectory, *, only_to_stop: bool = False) -> None:
        self.directory = directory
        self.processes: dict[str, Supervised] = {}
        self._stopping = only_to_stop
        self._way_down: list[str] = []  # from the last to the first that is stopped
        self._bell, self._ringer = socket.socketpair()
        for end in (self._bell, self._ringer):
            end.setblocking(False)

    def run(self) -> int:
        signal.set_wakeup_fd(self._ringer.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._asked_to_stop)
        for number in (signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        self._step(time.monotonic())
        while not (self._stopping and self._all_ended()):
            self._wait()
            self._step(time.monotonic())
        log.info("everything is stopped")
        return 0

    def _asked_to_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True

    def _all_ended(self) -> bool:
        return all(process.pid is None for process in self.processes.values())

    # --- one step: look who ended, then make the processes what the plan wants ---

    def _step(self, now_s: float) -> None:
        plan = self.directory.read_plan()
        for process in self.processes.values():
            process.look(now_s)
        for name in self._names(plan):
            if name not in self.processes:
                self._take_on(name)
        for name in self._names(plan):
            self._make_so(self.processes[name], self._is_wanted(plan, name), now_s)
        self.directory.write_running({name: process.running for name, process in self.processes.items()})

    def _names(self, plan: Plan) -> list[str]:
        return [ZOOKEEPER, *(broker.name for broker in plan.brokers)]

    def _is_wanted(self, plan: Plan, name: str) -> bool:
        if self._stopping:
            return self._has_to_wait_its_turn(plan, name)
        return name == ZOOKEEPER or any(broker.name == name and broker.wanted for broker in plan.brokers)

    def _has_to_wait_its_turn(self, plan: Plan, name: str) -> bool:
        """On the way down: whoever has a later one beside it that still runs."""
        names = self._way_down = self._way_down or self._find_way_down(plan)
        later = names[names.index(name) + 1 :] if name in names else []  # else it was just added to the plan
        return self.processes[name].pid is not None and any(
            self.processes[one].pid is not None for one in later
        )

    def _find_way_down(self, plan: Plan) -> list[str]:
        """Asked once: an office that changes hands on the way costs an election, and no more."""
        running = [broker for broker in plan.brokers if self.processes[broker.name].pid is not None]
        controller = find_controller(broker.port for broker in running) if len(running) > 1 else None
        ordered = sorted(plan.brokers, key=lambda broker: broker.broker_id != controller)
        return [ZOOKEEPER, *(broker.name for broker in ordered)]

    def _take_on(self, name: str) -> None:
        known = self.directory.read_running().get(name)
        log_file, properties = self.directory.log_file(name), str(self.directory.properties_file(name))
        if name == ZOOKEEPER:
            command = server_command(properties, properties)
        else:
            command = [sys.executable, "-m", "barnabas.runtime.server", properties]
        self.processes[name] = Supervised(name, command, properties, log_file)
        if known is not None:
            self.processes[name].adopt(known)

    def _make_so(self, process: Supervised, wanted: bool, now_s: float) -> None:
        if not wanted:
            process.ask_to_stop(now_s)
        elif not self._stopping:
            process.start_if_due(now_s)

    # --- waiting ---

    def _wait(self) -> None:
        """Until a signal, the end of a process, or the next start that is due."""
        watched = [fd for process in self.processes.values() if (fd := process.end_fd) is not None]
        now_s = time.monotonic()
        due = [process.due_s - now_s for process in self.processes.values() if process.due_s > now_s]
        seconds = min([_LOOK_S, *due])
        ready, _, _ = select.select([self._bell.fileno(), *watched], [], [], seconds)
        if self._bell.fileno() in ready:
            self._bell.recv(4096)


def main() -> int:
    directory = ClusterDirectory(sys.argv[1])
    logs.configure(logging.INFO)
    office = directory.take_office()
    if office is None:
        log.error("another supervisor runs in %s", directory.path)
        return 1
    log.info("supervising %s as process %d", directory.path, os.getpid())
    try:
        return Supervisor(directory, only_to_stop="--stop" in sys.argv[2:]).run()
    except (JavaError, ZookeeperUnavailableError) as error:
        log.error("%s", error)
        return 1


if __name__ == "__main__":
    sys.exit(main())
