"""A node without a process or a socket: frames in, reply bytes out, on a disk in memory and a still clock."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.broker.boot import Boot
from barnabas.broker.node import Node, Ports
from barnabas.broker.session import Part, PeerFaultError, Session
from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.settings.broker import BrokerSettings
from barnabas.ports import Caller, FileSlice, Line
from barnabas.protocol import codec
from barnabas.protocol.codec import RequestHeader
from barnabas.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from barnabas.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from barnabas.protocol.schema import Message
from barnabas.sim.disk import SimulatedDisk
from barnabas.sim.world import SeededRandom
from barnabas.store.memory import MemoryStore

NOW_MS = 1_700_000_000_000


class AtOnce:
    """Workers that have finished before they are asked whether they have."""

    def submit(
        self, work: Callable[[], object], done: Callable[[object, BaseException | None], None]
    ) -> None:
        try:
            result = work()
        except OSError as error:
            done(None, error)
        else:
            done(result, None)


class NoCleaner:
    busy = False

    def submit(self, *_: object) -> None:
        raise AssertionError("nothing is cleaned here")

    def abort(self) -> None: ...


class General(Session):
    """A connection that never gets a short way."""

    def repeats(self, what: object) -> bool:
        return False


class Unheard:
    """`ports.Network` on which nobody answers: others exist in the tree only."""

    was_refused = False

    def connect(self, _endpoint: Endpoint, _caller: Caller) -> Line:
        return self

    def send(self, frame: bytes) -> None: ...

    def close(self) -> None: ...


class SmallNode:
    def __init__(self, **settings: str) -> None:
        given = {"node.id": "1", "listeners": "PLAINTEXT://127.0.0.1:9092", "log.dirs": "/data"}
        given |= {name.replace("_", "."): value for name, value in settings.items()}
        self.settings, _ = BrokerSettings.parse(given)
        self.disk = SimulatedDisk(now_ms=lambda: NOW_MS)
        self.start(MemoryStore())

    def restart(self) -> None:
        """Stop in good order, and begin again with the disk and the tree as they are."""
        store = self.node.store._store
        assert isinstance(store, MemoryStore)
        store.close()
        self.node.logs.close_all(NOW_MS)
        self.start(MemoryStore(store._home))

    def start(self, store: MemoryStore) -> None:
        ports = Ports(self.disk, SeededRandom(7), store, AtOnce(), NoCleaner(), Unheard())
        self.node = Node(1, self.settings, ports)
        self.node.set_time(1, NOW_MS)
        ready: list[bool] = []
        endpoint = Endpoint("127.0.0.1", 9092, SecurityProtocol.PLAINTEXT)
        self.boot = Boot(self.node, {"PLAINTEXT": endpoint}, None, lambda: ready.append(True))
        store.start(lambda: None)
        while not ready:
            self.node.store.poll()

    def session(self, kind: type[Session] = Session) -> tuple[Session, list[bytes]]:
        """A connection, and where its parked replies arrive."""
        later: list[bytes] = []
        return kind("PLAINTEXT", "127.0.0.1", lambda parts: later.append(joined(parts))), later

    def create_topic(self, name: str, **configs: str) -> None:
        rows = [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()]
        topic = CreatableTopic(name, 1, 1, configs=rows)
        self._change(frame(19, 7, CreateTopicsRequest([topic], timeout_ms=1000)))

    def delete_topic(self, name: str) -> None:
        topic = DeleteTopicState(name)
        self._change(frame(20, 6, DeleteTopicsRequest([topic], timeout_ms=1000)))

    def _change(self, request: bytes) -> None:
        session, later = self.session()
        self.node.handle(session, memoryview(bytearray(request)))
        while not later:
            self.node.store.poll()

    def ask(self, session: Session, request: bytes) -> bytes | None:
        """The reply; None when it waits. A closed connection answers with its reason."""
        try:
            parts = self.node.handle(session, memoryview(bytearray(request)))
        except PeerFaultError as fault:
            return str(fault).encode()
        return None if parts is None else joined(parts)


def frame(api_key: int, version: int, message: Message, correlation_id: int = 1) -> bytes:
    return codec.write_request(RequestHeader(api_key, version, correlation_id, "client"), message)


def joined(parts: list[Part]) -> bytes:
    return b"".join(
        part.file.read(part.position, part.size) if isinstance(part, FileSlice) else part for part in parts
    )
