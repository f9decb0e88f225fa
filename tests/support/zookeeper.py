"""A real ZooKeeper for tests: one process, on ports of its own, in a directory of its own."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from barnabas import java
from barnabas.runtime.zookeeper import server_command
from barnabas.testing import free_port

WAIT_SECONDS = 60
TICK_MS = 200  # sessions may be as short as two ticks


def need_java() -> None:
    """Skips the test where ZooKeeper cannot run."""
    try:
        java.require(needed_by="ZooKeeper")
    except java.JavaError as missing:
        pytest.skip(str(missing))


class ZookeeperServer:
    """`extra` are further lines of its properties file, `java_options` further words for its JVM."""

    def __init__(
        self, directory: Path, port: int | None = None, extra: str = "", java_options: Sequence[str] = ()
    ) -> None:
        self.directory = directory
        self._java_options = java_options
        self.port = port or free_port()
        self._process: subprocess.Popen[bytes] | None = None
        (directory / "data").mkdir(parents=True, exist_ok=True)
        self.properties = directory / "zookeeper.properties"
        self.properties.write_text(
            f"dataDir={directory}/data\nclientPort={self.port}\nclientPortAddress=127.0.0.1\n"
            f"tickTime={TICK_MS}\nmaxSessionTimeout=60000\nmaxClientCnxns=0\n4lw.commands.whitelist=*\n{extra}"
        )

    @property
    def connect(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        java, *words = server_command(str(self.properties), str(self.properties))
        command = [java, *self._java_options, *words]
        with open(self.directory / "out.log", "ab") as output:
            self._process = subprocess.Popen(command, stdout=output, stderr=output, cwd=self.directory)

    def wait(self) -> None:
        """Until it serves, alone or as a member."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self.mode() is None:
            assert self._process is not None
            ended = self._process.poll() is not None
            if ended or time.monotonic() > deadline:
                raise AssertionError((self.directory / "out.log").read_text()[-2000:])
            time.sleep(0.02)

    def mode(self) -> str | None:
        """`standalone`, `leader` or `follower`; None while it does not serve."""
        for line in self.ask("srvr").splitlines():
            if line.startswith("Mode: "):
                return line.removeprefix("Mode: ")
        return None

    def ask(self, command: str) -> str:
        """One of ZooKeeper's commands of four letters."""
        try:
            with closing(socket.create_connection(("127.0.0.1", self.port), 5)) as connection:
                connection.sendall(command.encode())
                return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError:
            return ""

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(WAIT_SECONDS)
            self._process = None
