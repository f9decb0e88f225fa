"""A real ZooKeeper for tests: one process, alone or a member of an ensemble."""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from barnabas.testing.ports import free_port
from barnabas.testing.process import BrokerProcess

TICK_MS = 200  # sessions may be as short as two ticks


class Zookeeper(BrokerProcess):
    """`members` are the addresses of an ensemble as `server.N` lists them, this one being number `my_id`,
    counted from 1. Needs Java and PySpark's jars: `barnabas[cluster]`."""

    name = "ZooKeeper"

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        directory: Path | None = None,
        port: int | None = None,
        my_id: int = 1,
        members: Sequence[str] = (),
        startup_timeout_s: float = 60.0,
    ) -> None:
        port = port or free_port()
        super().__init__(
            [sys.executable, "-m", "barnabas.runtime.zookeeper"],
            {
                "clientPort": port,
                "clientPortAddress": "127.0.0.1",
                "tickTime": TICK_MS,
                # In ticks: a member that comes back while the machine is busy has 20 s, 10 s to keep up.
                "initLimit": 100,
                "syncLimit": 50,
                "maxSessionTimeout": 60_000,
                "maxClientCnxns": 0,
                "4lw.commands.whitelist": "*",
                **{f"server.{number}": member for number, member in enumerate(members, 1)},
                **(settings or {}),
            },
            port=port,
            directory=directory,
            startup_timeout_s=startup_timeout_s,
        )
        data = self.directory / "data"
        data.mkdir(exist_ok=True)
        self.settings = {"dataDir": data} | {k: v for k, v in self.settings.items() if k != "log.dirs"}
        if members:
            (data / "myid").write_text(f"{my_id}\n")

    def answers(self) -> bool:
        return self.mode() is not None

    def mode(self) -> str | None:
        """`standalone`, `leader` or `follower`; None while it does not serve."""
        for line in self.ask("srvr").splitlines():
            if line.startswith("Mode: "):
                return line.removeprefix("Mode: ")
        return None

    def ask(self, command: str) -> str:
        """One of ZooKeeper's commands of four letters; nothing where nobody answers."""
        try:
            with closing(socket.create_connection((self.host, self.port), 2)) as connection:
                connection.sendall(command.encode())
                return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError:
            return ""


def ensemble(count: int, directory: Path) -> list[Zookeeper]:
    """None of them started. One alone is no ensemble, and starts faster."""
    if count == 1:
        return [Zookeeper(directory=directory / "zookeeper-1")]
    members = [f"127.0.0.1:{free_port()}:{free_port()}" for _ in range(count)]
    return [
        Zookeeper(directory=directory / f"zookeeper-{number}", my_id=number, members=members)
        for number in range(1, count + 1)
    ]
