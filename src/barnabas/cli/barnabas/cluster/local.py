"""What the verbs share: the cluster's directory, its supervisor, and asking a broker whom it knows."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from barnabas.cli.support.failures import ToolError
from barnabas.runtime.cluster_contact import ask_metadata
from barnabas.runtime.cluster_plan import HOST, BrokerPlan, ClusterDirectory, Plan
from barnabas.runtime.supervised import is_process

_LOOK_S = 0.05
_PORT_LAST = 65_535


def port_number(text: str) -> int:
    if not 0 < int(text) <= _PORT_LAST:
        raise argparse.ArgumentTypeError(f"{text} is no port: those are 1 to {_PORT_LAST}")
    return int(text)


def directory_of(asked: argparse.Namespace) -> ClusterDirectory:
    return ClusterDirectory(asked.data)


def which_broker(parser: argparse.ArgumentParser, purpose: str, *, required: bool = False) -> None:
    """With the option's name or without it."""
    one = parser.add_mutually_exclusive_group(required=required)
    one.add_argument("--broker", type=int, metavar="ID", help=purpose)
    one.add_argument("bare", type=int, nargs="?", metavar="ID", action=_Bare, help="the same")


class _Bare(argparse.Action):
    """An argument that is left out must not overwrite the option."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        if values is not None:
            namespace.broker = values


def broker_of(plan: Plan, broker_id: int) -> BrokerPlan:
    found = plan.broker(broker_id)
    if found is None:
        known = ", ".join(str(broker.broker_id) for broker in plan.brokers)
        raise ToolError(f"There is no broker {broker_id} in this cluster; there are {known}.")
    return found


def supervisor_of(directory: ClusterDirectory) -> int:
    pid = directory.supervisor_pid()
    if pid is None:
        raise ToolError(
            f"The cluster in {directory.path} is not running: "
            f"`barnabas cluster start --data {directory.path}` starts it."
        )
    return pid


def spawn_supervisor(directory: ClusterDirectory, *options: str) -> subprocess.Popen[bytes]:
    """A session of its own: it goes on when the terminal is closed."""
    with directory.supervisor_log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "barnabas.runtime.supervisor", str(directory.path), *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=directory.path,
            start_new_session=True,
        )


def tell_supervisor(directory: ClusterDirectory) -> None:
    """That the plan has changed."""
    pid = directory.supervisor_pid()
    if pid is not None:
        os.kill(pid, signal.SIGHUP)


def live_pid(directory: ClusterDirectory, name: str) -> int | None:
    """Of a process of the cluster, if it is alive and still that one."""
    known = directory.read_running().get(name)
    mark = str(directory.properties_file(name))
    return known.pid if known is not None and known.pid and is_process(known.pid, mark) else None


def is_paused(pid: int) -> bool:
    """By SIGSTOP: it lives, and does nothing."""
    return _facts(pid)[:1] == ["T"]


def age_s(pid: int) -> float:
    """How long it has run; 0 for one that just ended."""
    facts = _facts(pid)
    if not facts:
        return 0
    began_s = int(facts[19]) / os.sysconf("SC_CLK_TCK")  # since the machine started
    return max(time.clock_gettime(time.CLOCK_BOOTTIME) - began_s, 0.001)


def _facts(pid: int) -> list[str]:
    """Of /proc/PID/stat, from the state on: before it is a name that may hold anything."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []


def knows(port: int, broker_ids: Iterable[int]) -> bool:
    answer = ask_metadata(port)
    known = {broker.node_id for broker in answer.brokers} if answer is not None else set()
    return answer is not None and answer.controller_id in known and known >= set(broker_ids)


def zookeeper_serves(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), 2) as connection:
            connection.sendall(b"srvr")
            return b"Mode: " in b"".join(iter(lambda: connection.recv(65536), b""))
    except OSError:
        return False


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_ports(first: int, count: int, but: Iterable[int] = ()) -> list[int]:
    """The next ones that nobody listens on."""
    taken, found = set(but), list[int]()
    for port in range(first, _PORT_LAST + 1):
        if len(found) == count:
            break
        if port not in taken and is_free(port):
            found.append(port)
    if len(found) < count:
        raise ToolError(f"There are no {count} free ports from {first} on: name another with --port.")
    return found


def wait_until(condition: Callable[[], bool], timeout_s: float) -> bool:
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(_LOOK_S)
    return True
