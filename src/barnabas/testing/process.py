"""A broker as an operating-system process: start it, see that it answers, stop it, kill it, read its log.

Both our own broker and (in `bench/`) Apache Kafka run through this class, so that a test or a measurement
treats the two alike.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self


class BrokerFailedError(Exception):
    """The broker process did not start, ended by itself, or did not stop; the message carries its last
    lines.
    """


def properties_text(settings: Mapping[str, object]) -> str:
    """Settings as the lines of a `server.properties`; True and False become Kafka's words."""
    return "".join(f"{name}={_property_value(value)}\n" for name, value in settings.items())


def _property_value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def answers_api_versions(port: int, timeout_s: float = 2.0) -> bool:
    """Whether somebody on this port answers a Kafka ApiVersions request without an error."""
    body = struct.pack(">hhih", 18, 0, 1, 5) + b"ready"
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=timeout_s) as connection:
            connection.sendall(struct.pack(">i", len(body)) + body)
            with connection.makefile("rb") as reply:
                head = reply.read(10)
    except OSError:
        return False
    return len(head) == 10 and struct.unpack(">ih", head[4:]) == (1, 0)


class BrokerProcess:
    """One broker process: a port, a directory with its `server.properties`, its data and its log.

    `command` is completed with the path of the properties file. Without a `directory`, a temporary one is
    made and removed by `close()`.
    """

    name = "broker"

    def __init__(
        self,
        command: Sequence[str],
        settings: Mapping[str, object],
        *,
        port: int,
        directory: Path | None = None,
        startup_timeout_s: float = 60.0,
        shutdown_timeout_s: float = 60.0,
    ) -> None:
        self._owns_directory = directory is None
        self.directory = directory or Path(tempfile.mkdtemp(prefix="barnabas-test-"))
        self.directory.mkdir(parents=True, exist_ok=True)
        self.properties_file = self.directory / "server.properties"
        self.log_file = self.directory / "broker.log"
        self.settings: dict[str, object] = {"log.dirs": self.directory / "data", **settings}
        self.command = [*command, str(self.properties_file)]
        self.host = "127.0.0.1"
        self.port = port
        self.startup_timeout_s = startup_timeout_s
        self.shutdown_timeout_s = shutdown_timeout_s
        self.startup_s = 0.0
        self._started_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log_dir(self) -> Path:
        """The (first) directory that holds the `<topic>-<partition>` folders."""
        return Path(str(self.settings["log.dirs"]).split(",", maxsplit=1)[0])

    @property
    def bootstrap(self) -> str:
        """What clients call `bootstrap.servers`."""
        return f"{self.host}:{self.port}"

    @property
    def pid(self) -> int:
        if self._process is None:
            raise BrokerFailedError(f"the {self.name} is not running")
        return self._process.pid

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Start the process and return once it answers ApiVersions.

        It reads the current `settings`: change them between stop and start to try another value.
        """
        self.launch()
        return self.wait_until_ready()

    def launch(self) -> Self:
        """Start the process and do not wait: several may come up side by side."""
        if self.is_running():
            raise BrokerFailedError(f"the {self.name} is already running as process {self.pid}")
        self.properties_file.write_text(properties_text(self.settings))
        self.prepare()
        self._started_at = time.monotonic()
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
            )
        return self

    def prepare(self) -> None:
        """What has to be done before the process starts, such as formatting the data directory."""

    def answers(self) -> bool:
        """Whether it serves."""
        return answers_api_versions(self.port)

    def wait_until_ready(self) -> Self:
        while not self.answers():
            if not self.is_running():
                code = self._forget()
                raise BrokerFailedError(
                    f"the {self.name} ended with code {code} while starting:\n{self.log_tail()}"
                )
            if time.monotonic() - self._started_at > self.startup_timeout_s:
                self.kill()
                raise BrokerFailedError(
                    f"the {self.name} did not answer within {self.startup_timeout_s:g} s:\n{self.log_tail()}"
                )
            time.sleep(0.005)
        self.startup_s = time.monotonic() - self._started_at
        return self

    def stop(self) -> None:
        """A clean stop: SIGTERM, then wait. Does nothing when the broker is not running."""
        if self._process is None:
            return
        self.resume()  # a process that is paused would not hear of it
        self._process.terminate()
        try:
            self._process.wait(self.shutdown_timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise BrokerFailedError(
                f"the {self.name} did not stop within {self.shutdown_timeout_s:g} s:\n{self.log_tail()}"
            ) from None
        self._forget()

    def kill(self) -> None:
        """A crash: SIGKILL. Whatever the broker had not handed to the operating system is gone."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGKILL)
        self._forget()

    def pause(self) -> None:
        """SIGSTOP: it lives, keeps its connections, and does nothing until `resume()`."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def restart(self) -> None:
        """Stop cleanly if it runs, then start again on the same port and data."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop, and remove the directory if it was a temporary one."""
        try:
            self.stop()
        finally:
            if self._owns_directory:
                shutil.rmtree(self.directory, ignore_errors=True)

    def _forget(self) -> int:
        assert self._process is not None
        code = self._process.wait()
        self._process = None
        return code

    def log_text(self) -> str:
        """Everything the broker has printed since its first start."""
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def log_tail(self, line_count: int = 60) -> str:
        return "\n".join(self.log_text().splitlines()[-line_count:])

    def __enter__(self) -> Self:
        return self if self.is_running() else self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            error.add_note(f"the last lines of the {self.name}'s log:\n{self.log_tail()}")
        self.close()
