"""A broker process: settings in, sockets open, the loop until somebody says stop."""

from __future__ import annotations

import gc
import logging
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from types import FrameType

from barnabas.broker.boot import Boot, BootError
from barnabas.broker.cluster.leaving import Leaving
from barnabas.broker.node import Node, Ports
from barnabas.log import meta_properties
from barnabas.log.meta_properties import InconsistentDirectoryError
from barnabas.model import properties as java_properties
from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.settings import SettingError
from barnabas.model.settings.broker import BrokerSettings
from barnabas.runtime import logs, socket_buffers
from barnabas.runtime.cleaning import CleanerOnLoop
from barnabas.runtime.clock import SystemClock, SystemRandom
from barnabas.runtime.cold import ColdReads
from barnabas.runtime.files import RealFilesystem
from barnabas.runtime.home import home_of
from barnabas.runtime.lines import Lines
from barnabas.runtime.listeners import Limits, bind
from barnabas.runtime.lock import DirectoryLockedError, lock_directory
from barnabas.runtime.reactor import Reactor
from barnabas.runtime.scheduling import ask_for_short_turns
from barnabas.runtime.workers import ThreadWorkers, Wakeup
from barnabas.store.sqlite_file import MetadataFileError
from barnabas.store.zookeeper_errors import ZookeeperError

log = logging.getLogger("kafka.server.BrokerServer")

_WORKERS = 4
_BACKLOG = 1024
# What stops a start with one sentence.
_FATAL = (
    SettingError,
    BootError,
    InconsistentDirectoryError,
    DirectoryLockedError,
    MetadataFileError,
    ZookeeperError,
    OSError,
)


class Server:
    def __init__(self, settings: BrokerSettings, on_ready: Callable[[Server], None]) -> None:
        self.settings = settings
        self._on_ready = on_ready
        self.clock = SystemClock()
        self.wakeup = Wakeup()
        self.workers = ThreadWorkers(self.wakeup, _WORKERS)
        self.filesystem = RealFilesystem()
        self._locks = [self._lock(path) for path in settings.log_dirs]
        self.home = home_of(settings, os.environ)
        self.store = self.home.store()
        self.cleaner = CleanerOnLoop()
        self.lines = Lines(self.workers, socket_buffers.of_replicas(settings))
        ports = Ports(self.filesystem, SystemRandom(), self.store, self.workers, self.cleaner, self.lines)
        self.node = Node(self._broker_id(), settings, ports)
        self.limits = Limits()
        self.apply_limits(settings)
        self.node.on_settings.append(self.apply_limits)
        self.reactor = Reactor(self.node, self.clock, self.limits, ColdReads(self.workers, self.clock))
        self.cleaner.attach_to(self.reactor)
        self.lines.attach_to(self.reactor)
        self.listening: list[tuple[str, socket.socket]] = []
        self.endpoints: dict[str, Endpoint] = {}
        self._stop_wanted = False
        self._leaving: Leaving | None = None

    def _lock(self, path: str) -> int | None:
        """A directory that cannot even be made is offline; the log manager says so."""
        try:
            os.makedirs(path, exist_ok=True)
            return lock_directory(path)
        except OSError as error:
            log.error("Cannot use the log directory %s: %s", path, error)
            return None

    def _broker_id(self) -> int:
        """What is set, else what the directories were formatted with, else the first generated one."""
        if self.settings.broker_id is not None:
            return self.settings.broker_id
        for path in self.settings.log_dirs:
            found = meta_properties.read(self.filesystem, path)
            if found is not None and found.node_id is not None:
                return found.node_id
        return self.home.generate_broker_id()

    def apply_limits(self, settings: BrokerSettings) -> None:
        limits = self.limits
        limits.request_max_bytes = settings.integer("socket.request.max.bytes")
        limits.queued_max_bytes = settings.integer("queued.max.request.bytes")
        limits.max_connections = settings.integer("max.connections")
        limits.max_connections_per_ip = settings.integer("max.connections.per.ip")
        limits.per_ip_overrides = settings.connections_per_ip_overrides
        limits.idle_max_ms = settings.integer("connections.max.idle.ms")

    # --- life ----------------------------------------------------------------------------------------------

    def run(self) -> int:
        self._bind()
        self.node.set_time(self.clock.monotonic_ms(), self.clock.wall_ms())
        Boot(self.node, self.endpoints, self.settings.optional_text("broker.rack"), self._serve)
        self.reactor.attach(self.wakeup.fd, self._woken)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._signalled)
        self.store.start(self.wakeup.set)
        ask_for_short_turns()
        try:
            self.reactor.run(lambda: self.node.exit_code is not None)
        finally:
            self._shut_down()
        return self.node.exit_code or 0

    def _bind(self) -> None:
        """Bind first: a listener on port 0 must know its port before it is advertised."""
        for name, endpoint in self.settings.listeners.items():
            if endpoint.security_protocol is not SecurityProtocol.PLAINTEXT:
                # Answering in clear on a port that says it is encrypted would be worse than not starting.
                raise BootError(
                    f"Listener {name} asks for {endpoint.security_protocol}, which this version does "
                    "not speak yet: use PLAINTEXT, or leave the listener out."
                )
        backlog = self.settings.integer("socket.listen.backlog.size")
        if "socket.listen.backlog.size" not in self.settings.static:
            backlog = _BACKLOG  # a crowd that comes at once need not wait for the kernel's retries
        buffers = socket_buffers.of_clients(self.settings)
        bound: dict[str, int] = {}
        for name, endpoint in self.settings.listeners.items():
            try:
                listener = bind(endpoint.host, endpoint.port, backlog, buffers)
            except OSError as error:
                raise BootError(
                    f"Socket server failed to bind to {endpoint.host or '0.0.0.0'}:{endpoint.port}: "
                    f"{error.strerror}."
                ) from error
            self.listening.append((name, listener))
            bound[name] = listener.getsockname()[1]
        for name, endpoint in self.settings.advertised_listeners.items():
            host = endpoint.host or socket.getfqdn()
            self.endpoints[name] = endpoint._replace(host=host, port=endpoint.port or bound[name])

    def _serve(self) -> None:
        for name, listener in self.listening:
            self.reactor.accept_from(name, listener)
        # What lives until the end need not be looked at by the collector again and again.
        gc.collect()
        gc.freeze()
        log.info("[BrokerServer id=%d] Kafka Server started", self.node.broker_id)
        self._on_ready(self)

    def _woken(self) -> None:
        self.wakeup.clear()
        if self._stop_wanted and self._leaving is None:
            self._leave()
        self.workers.deliver()
        self.node.store.poll()

    def _signalled(self, number: int, _frame: FrameType | None) -> None:
        """Between any two steps of the loop: only note it. Whoever asks twice does not want to wait."""
        log.info("Terminating process due to signal %s", signal.Signals(number).name)
        if self._stop_wanted or not self.node.is_ready:
            self.node.stop(0)
        self._stop_wanted = True
        self.wakeup.set()

    def _leave(self) -> None:
        self._leaving = Leaving(self.node, lambda: self.node.stop(0))
        self._leaving.begin()

    def _shut_down(self) -> None:
        log.info("[BrokerServer id=%d] shutting down", self.node.broker_id)
        self.cleaner.abort()
        self.lines.close()
        self.reactor.close()
        for _, listener in self.listening:
            listener.close()
        self.workers.close()
        self.workers.deliver()
        # First: the others need not wait for our disk until somebody else holds what we held.
        self.store.close()
        self.node.logs.close_all(self.clock.wall_ms())
        for descriptor in self._locks:
            if descriptor is not None:
                os.close(descriptor)
        log.info("[BrokerServer id=%d] shut down completed", self.node.broker_id)


def run(
    properties: Mapping[str, str],
    on_ready: Callable[[Server], None] = lambda _server: None,
    *,
    quiet: bool = False,
) -> int:
    """Run a broker until it is told to stop; returns the exit code. `quiet`: only warnings are logged."""
    logs.configure(logging.WARNING if quiet else logging.INFO)
    try:
        settings, warnings = BrokerSettings.parse(properties)
        for warning in warnings:
            log.warning("%s", warning)
        _raise_file_limit()
        return Server(settings, on_ready).run()
    except _FATAL as error:
        log.critical("Exiting Kafka due to fatal exception: %s", error)
        return 1


def _raise_file_limit() -> None:
    """Segments and connections are descriptors: take as many as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main(arguments: list[str] | None = None) -> int:
    """`python -m barnabas.runtime.server server.properties [--override name=value]…`"""
    words = sys.argv[1:] if arguments is None else arguments
    with open(words[0], "rb") as file:
        properties = java_properties.load(file.read())
    for at, word in enumerate(words[:-1]):
        if word == "--override":
            name, _, value = words[at + 1].partition("=")
            properties[name] = value
    return run(properties)


if __name__ == "__main__":
    sys.exit(main())
