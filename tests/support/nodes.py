"""Several nodes in one process, without ZooKeeper: disks and lines in memory, time that moves when it is told
to, and cluster images that are installed by hand.

    nodes = Nodes(1, 2)
    nodes.install(nodes.topic("t", leader=1))
    nodes.produce(1, "t", [b"one"], acks=-1)
    nodes.run(100)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.support.batches import Batch
from tests.support.node import AtOnce, NoCleaner, joined

from barnabas.broker.node import Node, Ports
from barnabas.broker.replication.partition import Partition
from barnabas.broker.session import Part, PeerFaultError, Session
from barnabas.broker.topic_config import log_config
from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.image import (
    BrokerChanged,
    BrokerImage,
    ClusterImage,
    ConfigKind,
    Delta,
    PartitionChanged,
    PartitionImage,
    TopicCreated,
    TopicImage,
)
from barnabas.model.settings.broker import BrokerSettings
from barnabas.ports import Caller, Line
from barnabas.protocol import codec
from barnabas.protocol.codec import RequestHeader
from barnabas.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from barnabas.protocol.schema import Message
from barnabas.sim.disk import SimulatedDisk
from barnabas.sim.world import SeededRandom
from barnabas.store.memory import MemoryStore

START_MS = 1_700_000_000_000
CLUSTER_ID = "a-cluster-in-memory-00"


class Nodes:
    """Brokers, their lines, and their clock."""

    def __init__(self, *broker_ids: int, **settings: str) -> None:
        self.now_ms = 1
        self.image = ClusterImage(cluster_id=CLUSTER_ID)
        self.network = Network(self)
        self.disks = {each: SimulatedDisk(now_ms=lambda: self.wall_ms) for each in broker_ids}
        self.running: dict[int, Node] = {}
        self._settings = settings
        self._events: deque[Callable[[], None]] = deque()
        for broker_id in broker_ids:
            for path in settings.get("log_dirs", "/data").split(","):
                self.disks[broker_id].make_directories(path)
            self.image = self.image.apply([BrokerChanged(_broker(broker_id, epoch=broker_id))])
        for broker_id in broker_ids:
            self.start(broker_id)

    def __getitem__(self, broker_id: int) -> Node:
        return self.running[broker_id]

    @property
    def wall_ms(self) -> int:
        return START_MS + self.now_ms

    # --- processes -----------------------------------------------------------------------------------------

    def start(self, broker_id: int) -> Node:
        given = {
            "node.id": str(broker_id),
            "listeners": f"PLAINTEXT://127.0.0.1:{9000 + broker_id}",
            "log.dirs": "/data",
            "zookeeper.connect": "nobody:1",
        }
        given |= {name.replace("_", "."): value for name, value in self._settings.items()}
        ports = Ports(
            self.disks[broker_id],
            SeededRandom(broker_id),
            MemoryStore(),
            AtOnce(),
            NoCleaner(),
            self.network.end_of(broker_id),
        )
        node = Node(broker_id, BrokerSettings.parse(given)[0], ports)
        node.set_time(self.now_ms, self.wall_ms)
        image = self.image
        node.logs.open_all(
            CLUSTER_ID,
            broker_id,
            lambda topic: log_config(node.settings, image.config(ConfigKind.TOPIC, topic)),
            self.wall_ms,
        )
        self.running[broker_id] = node
        node.install(image)
        return node

    def stop(self, broker_id: int, *, orderly: bool = True) -> None:
        node = self.running.pop(broker_id)
        if orderly:
            node.logs.close_all(self.wall_ms)
        self.network.died(broker_id)

    def restart(self, broker_id: int, *, orderly: bool = True) -> Node:
        """With a new epoch, which everybody learns."""
        self.stop(broker_id, orderly=orderly)
        before = self.image.brokers[broker_id]
        self.change(BrokerChanged(replace(before, epoch=before.epoch + 100)))
        return self.start(broker_id)

    # --- images --------------------------------------------------------------------------------------------

    def topic(
        self, name: str, leader: int, *, partitions: int = 1, replicas: Sequence[int] | None = None
    ) -> TopicCreated:
        held = tuple(self.disks) if replicas is None else tuple(replicas)
        rows = tuple(PartitionImage(index, held, held, leader) for index in range(partitions))
        return TopicCreated(TopicImage(name, f"{name:_<16}".encode()[:16], rows))

    def change(self, *deltas: Delta, among: Sequence[int] | None = None) -> None:
        """The cluster changes, and (all or some) running brokers learn it."""
        self.image = self.image.apply(deltas)
        for broker_id in self.running if among is None else among:
            self.learn(broker_id)

    def learn(self, broker_id: int) -> None:
        node = self.running[broker_id]
        node.set_time(self.now_ms, self.wall_ms)
        node.install(self.image)

    def elect(
        self, topic: str, leader: int, *, isr: Sequence[int], among: Sequence[int] | None = None
    ) -> None:
        before = self.image.topics[topic].partitions[0]
        after = replace(
            before,
            leader=leader,
            isr=tuple(isr),
            leader_epoch=before.leader_epoch + 1,
            partition_epoch=before.partition_epoch + 1,
        )
        self.change(PartitionChanged(topic, after), among=among)

    def reassign(self, topic: str, replicas: Sequence[int]) -> None:
        """Those who are new are not in sync yet."""
        before = self.image.topics[topic].partitions[0]
        after = replace(
            before,
            replicas=tuple(replicas),
            leader_epoch=before.leader_epoch + 1,
            partition_epoch=before.partition_epoch + 1,
        )
        self.change(PartitionChanged(topic, after))

    # --- time ----------------------------------------------------------------------------------------------

    def soon(self, action: Callable[[], None]) -> None:
        self._events.append(action)

    def run(self, span_ms: int) -> None:
        """Everything that happens in that time."""
        end_ms = self.now_ms + span_ms
        while True:
            wait_ms = self._turn()
            if self._events:
                continue
            if self.now_ms + wait_ms > end_ms:
                break
            self.now_ms += max(1, wait_ms)
        self.now_ms = end_ms
        self._turn()

    def _turn(self) -> int:
        for node in self.running.values():
            node.set_time(self.now_ms, self.wall_ms)
        for _ in range(len(self._events)):
            self._events.popleft()()
        return min((node.tick() for node in list(self.running.values())), default=1 << 40)

    # --- clients -------------------------------------------------------------------------------------------

    def partition(self, broker_id: int, topic: str, index: int = 0) -> Partition:
        found = self.running[broker_id].replicas.find(topic, index)
        assert found is not None
        return found

    def values(self, broker_id: int, topic: str, index: int = 0) -> bytes:
        """Every byte of the partition's log on that broker."""
        log = self.partition(broker_id, topic, index).log
        assert log is not None
        return b"".join(segment.file.read(0, segment.size) for segment in log.segments)

    def ends(self, topic: str, index: int = 0) -> dict[int, tuple[int, int]]:
        """(high watermark, log end offset) on every running broker that holds the partition."""
        found = {each: node.replicas.find(topic, index) for each, node in self.running.items()}
        return {
            each: (partition.log.high_watermark, partition.log.log_end_offset)
            for each, partition in found.items()
            if partition is not None and partition.log is not None
        }

    def ask(self, broker_id: int, version: int, request: Message) -> Asked:
        asked = Asked(request.API_KEY, version)
        line = self.network.end_of(0).connect(_broker(broker_id, 0).endpoints["PLAINTEXT"], asked)
        frame = codec.write_request(RequestHeader(request.API_KEY, version, 1, "client"), request)
        line.send(len(frame).to_bytes(4, "big") + frame)
        return asked

    def produce(
        self, broker_id: int, topic: str, values: Sequence[bytes], *, acks: int = 1, index: int = 0
    ) -> Asked:
        records = Batch(values, timestamp_ms=self.wall_ms).encode()
        data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index, records)])
        return self.ask(broker_id, 9, ProduceRequest(acks=acks, timeout_ms=60_000, topic_data=[data]))

    def fetch(self, broker_id: int, topic: str, offset: int) -> Asked:
        row = FetchPartition(0, fetch_offset=offset, partition_max_bytes=1 << 20)
        request = FetchRequest(min_bytes=1, topics=[FetchTopic(topic=topic, partitions=[row])])
        return self.ask(broker_id, 12, request)


class Asked:
    """One question to a broker, and what came of it."""

    def __init__(self, api_key: int, version: int) -> None:
        self._api_key = api_key
        self._version = version
        self.answer: Message | None = None
        self.is_lost = False

    def received(self, frame: bytearray) -> None:
        self.answer = codec.read_response(self._api_key, self._version, memoryview(frame))[1]

    def disconnected(self) -> None:
        self.is_lost = True

    @property
    def error_code(self) -> int | None:
        """Of the only partition; None while there is no answer."""
        answer = self.answer
        if answer is None:
            return None
        if isinstance(answer, FetchResponse):
            return answer.responses[0].partitions[0].error_code
        assert isinstance(answer, ProduceResponse)
        return answer.responses[0].partition_responses[0].error_code


class Network:
    """Every line of every broker. What is cut does not answer, and does not say so either."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.lines: list[MemoryLine] = []
        self.opened = 0
        self.cut: set[tuple[int, int]] = set()
        self.tamper: Callable[[bytearray], bytearray] = lambda frame: frame  # with what goes to brokers

    def end_of(self, broker_id: int) -> NetworkEnd:
        return NetworkEnd(self, broker_id)

    def died(self, broker_id: int) -> None:
        for line in [line for line in self.lines if broker_id in {line.source, line.target}]:
            line.break_off()


class NetworkEnd:
    """`ports.Network` of one broker."""

    def __init__(self, network: Network, source: int) -> None:
        self._network = network
        self._source = source

    def connect(self, endpoint: Endpoint, caller: Caller) -> Line:
        line = MemoryLine(self._network, self._source, endpoint.port - 9000, caller)
        self._network.lines.append(line)
        self._network.opened += 1
        return line


class MemoryLine:
    """`ports.Line`, and the broker's side of it: one request at a time; behind a parked one others wait."""

    def __init__(self, network: Network, source: int, target: int, caller: Caller) -> None:
        self._network = network
        self.source = source
        self.target = target
        self._caller = caller
        self._closed = False
        self.was_refused = False
        self._busy = False
        self._inbox: deque[bytes] = deque()
        self._session = Session("PLAINTEXT", f"broker-{source}", self._reply)
        network.nodes.soon(self._knock)

    def _knock(self) -> None:
        if not self._closed and self.target not in self._network.nodes.running:
            self.was_refused = True
            self.break_off()

    def send(self, frame: bytes) -> None:
        self._network.nodes.soon(lambda: self._arrive(frame[4:]))

    def close(self) -> None:
        if not self._closed:
            self._closed = self._session.closed = True
            self._network.lines.remove(self)
            node = self._network.nodes.running.get(self.target)
            if node is not None:
                node.disconnected(self._session)

    def break_off(self) -> None:
        if not self._closed:
            self.close()
            if self.source == 0 or self.source in self._network.nodes.running:
                self._caller.disconnected()

    @property
    def _is_cut(self) -> bool:
        return (self.source, self.target) in self._network.cut

    def _arrive(self, frame: bytes) -> None:
        if not self._closed and not self._is_cut:
            self._inbox.append(frame)
            self._work()

    def _work(self) -> None:
        while self._inbox and not self._busy and not self._closed:
            self._busy = True
            node = self._network.nodes.running[self.target]
            try:
                parts = node.handle(self._session, memoryview(bytearray(self._inbox.popleft())))
            except PeerFaultError:
                self.break_off()
                return
            if parts is not None:
                self._reply(parts)

    def _reply(self, parts: list[Part]) -> None:
        self._busy = False
        frame = bytearray(joined(parts)[4:])
        if self.source:
            frame = self._network.tamper(frame)
        self._network.nodes.soon(lambda: self._deliver(frame))
        self._network.nodes.soon(self._work)

    def _deliver(self, frame: bytearray) -> None:
        if not self._closed and not self._is_cut:
            self._caller.received(frame)


def _broker(broker_id: int, epoch: int) -> BrokerImage:
    endpoint = Endpoint("127.0.0.1", 9000 + broker_id, SecurityProtocol.PLAINTEXT)
    return BrokerImage(broker_id, epoch, {"PLAINTEXT": endpoint})
