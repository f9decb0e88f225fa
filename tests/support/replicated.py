"""Broker 1 of three, alone in memory: the other two are what a test says they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tests.support.batches import Batch
from tests.support.node import NOW_MS, General, SmallNode, frame

from barnabas.broker.cluster.peers import Answered, Failed
from barnabas.broker.replication.partition import Partition
from barnabas.broker.session import Session
from barnabas.model.image import (
    BrokerChanged,
    BrokerGone,
    BrokerImage,
    ConfigChanged,
    ConfigKind,
    ConfigResource,
    Delta,
    PartitionChanged,
    PartitionImage,
    TopicCreated,
    TopicImage,
)
from barnabas.protocol import codec
from barnabas.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    ResponsePartitionData,
    ResponseTopicData,
)
from barnabas.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
    ReplicaState,
)
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from barnabas.protocol.schema import Message

TOPIC = "t"
TOPIC_ID = bytes(range(16))
EPOCHS = {2: 200, 3: 300}
FETCH, PRODUCE = 1, 0
_FETCH_VERSION, _PRODUCE_VERSION = 17, 11


class Link:
    """The way to a controller that answers when a test does."""

    def __init__(self) -> None:
        self.asked: list[tuple[AlterPartitionRequest, Answered, Failed]] = []
        self.others: list[Message] = []

    def ask(
        self,
        request: Message,
        version: int,
        answered: Answered,
        failed: Failed,
        timeout_ms: int | None = None,
    ) -> None:
        codec.encode(request, version)
        if isinstance(request, AlterPartitionRequest):
            self.asked.append((request, answered, failed))
        else:
            self.others.append(request)
            failed()

    @property
    def proposed(self) -> list[list[int]]:
        """The in-sync replicas that each request asks for in its first partition."""
        return [
            [state.broker_id for state in request.topics[0].partitions[0].new_isr_with_epochs]
            for request, _, _ in self.asked
        ]

    def answer(self, code: int = 0) -> None:
        request, answered, _ = self.asked[-1]
        rows = [ResponsePartitionData(row.partition_index, code) for row in request.topics[0].partitions]
        answered(AlterPartitionResponse(topics=[ResponseTopicData(request.topics[0].topic_id, rows)]))


@dataclass(slots=True)
class Parked:
    """A request that may be answered later."""

    key: int
    version: int
    first: bytes | None
    later: list[bytes]

    @property
    def message(self) -> Message | None:
        whole = self.first if self.first is not None else next(iter(self.later), None)
        return (
            None if whole is None else codec.read_response(self.key, self.version, memoryview(whole)[4:])[1]
        )


class Fetched(Parked):
    @property
    def data(self) -> PartitionData | None:
        """Of the only partition; None while it waits, or where the answer does not mention it."""
        message = self.message
        if message is None:
            return None
        assert isinstance(message, FetchResponse)
        assert message.error_code == 0
        return message.responses[0].partitions[0] if message.responses else None


class Produced(Parked):
    @property
    def data(self) -> PartitionProduceResponse | None:
        message = self.message
        if message is None:
            return None
        assert isinstance(message, ProduceResponse)
        return message.responses[0].partition_responses[0]


class Trio(SmallNode):
    def __init__(
        self, image: PartitionImage | None = None, configs: dict[str, str] | None = None, **settings: str
    ) -> None:
        super().__init__(**settings)
        self.link = Link()
        self.node.controller_link = self.link  # type: ignore[assignment]
        self.sessions: dict[int, Session] = {}
        first = image or PartitionImage(0, (1, 2, 3), (1, 2, 3), leader=1, leader_epoch=5, partition_epoch=10)
        # Nobody can reach them, so that nobody tries.
        brokers = [BrokerChanged(BrokerImage(each, epoch, {})) for each, epoch in EPOCHS.items()]
        topic = TopicCreated(TopicImage(TOPIC, TOPIC_ID, (first,)))
        resource = ConfigResource(ConfigKind.TOPIC, TOPIC)
        self.install(*brokers, ConfigChanged(resource, configs or {}), topic)

    # --- the cluster ---------------------------------------------------------------------------------------

    def install(self, *deltas: Delta) -> None:
        self.node.install(self.node.image.apply(deltas))

    def change(self, **fields: object) -> None:
        """A new image of the partition; a new leader is a new epoch, every change a new version."""
        before = self.image
        if "leader" in fields:
            fields.setdefault("leader_epoch", before.leader_epoch + 1)
        after = replace(before, partition_epoch=before.partition_epoch + 1, **fields)  # type: ignore[arg-type]
        self.install(PartitionChanged(TOPIC, after))

    def gone(self, broker_id: int) -> None:
        self.install(BrokerGone(broker_id))

    def configure(self, **values: str) -> None:
        resource = ConfigResource(ConfigKind.TOPIC, TOPIC)
        self.install(ConfigChanged(resource, {name.replace("_", "."): text for name, text in values.items()}))

    @property
    def image(self) -> PartitionImage:
        return self.node.image.topics[TOPIC].partitions[0]

    @property
    def partition(self) -> Partition:
        found = self.node.replicas.find(TOPIC, 0)
        assert found is not None
        return found

    @property
    def high_watermark(self) -> int:
        assert self.partition.log is not None
        return self.partition.log.high_watermark

    def pass_ms(self, delay_ms: int) -> None:
        """Time goes by, and what is due is done in order."""
        end_ms = self.node.now_ms + delay_ms
        while self.node.now_ms < end_ms:
            step_ms = min(max(self.node.tick(), 1), end_ms - self.node.now_ms)
            self.node.set_time(self.node.now_ms + step_ms, self.node.wall_ms + step_ms)
        self.node.tick()

    # --- requests ------------------------------------------------------------------------------------------

    def append(self, count: int = 1) -> int:
        """Records with acks=1; the log end offset behind them."""
        batch = memoryview(bytearray(Batch([b"v"] * count, timestamp_ms=NOW_MS).encode()))
        return self.partition.append(batch, 1, NOW_MS).last_offset + 1

    def produce(
        self,
        acks: int = -1,
        timeout_ms: int = 60_000,
        connection: tuple[Session, list[bytes]] | None = None,
    ) -> Produced:
        batch = Batch([b"v"], timestamp_ms=NOW_MS).encode()
        topic = TopicProduceData(TOPIC_ID, TOPIC, [PartitionProduceData(0, batch)])
        request = ProduceRequest(None, acks, timeout_ms, [topic])
        session, later = connection or self.session(General)
        later.clear()
        first = self.ask(session, frame(PRODUCE, _PRODUCE_VERSION, request))
        return Produced(PRODUCE, _PRODUCE_VERSION, first, later)

    def fetch(
        self,
        replica_id: int,
        offset: int,
        *,
        max_wait_ms: int = 0,
        epoch: int | None = None,
        last_epoch: int = -1,
        broker_epoch: int | None = None,
        log_start_offset: int = 0,
        session: tuple[int, int] = (0, -1),
        known_high_watermark: int = (1 << 63) - 1,
        rack: str = "",
        isolation_level: int = 0,
        version: int = _FETCH_VERSION,
    ) -> Fetched:
        """As follower `replica_id`; -1 is a consumer."""
        asked = FetchPartition(
            0,
            self.image.leader_epoch if epoch is None else epoch,
            offset,
            last_epoch,
            log_start_offset,
            1 << 20,
            high_watermark=known_high_watermark,
        )
        state = ReplicaState(replica_id, EPOCHS.get(replica_id, -1) if broker_epoch is None else broker_epoch)
        request = FetchRequest(
            replica_state=state if replica_id >= 0 else None,
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            isolation_level=isolation_level,
            session_id=session[0],
            session_epoch=session[1],
            topics=self._asked(asked),
            rack_id=rack,
        )
        connection, later = self.session(General)
        return Fetched(FETCH, version, self.ask(connection, frame(FETCH, version, request)), later)

    def _asked(self, asked: FetchPartition) -> Sequence[FetchTopic]:
        return [FetchTopic(TOPIC_ID, TOPIC, [asked])]
