"""Consumers that read everything from the beginning, with fetch sessions, and write down what they see."""

from __future__ import annotations

from dataclasses import replace

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from barnabas.protocol.schema import Message
from barnabas.sim.clients import Client
from barnabas.sim.history import Seen
from barnabas.sim.network import Door
from barnabas.sim.reading import read_answer
from barnabas.sim.world import World

_VERSION = 12
_LIST_OFFSETS_VERSION = 7
_EARLIEST = -2
_PAUSE_MS = 15


class Consumer(Client):
    """`final`: stop when every partition is read to its end."""

    def __init__(
        self,
        world: World,
        host: Door,
        name: str,
        places: list[TopicPartition],
        *,
        final: bool = False,
        read_committed: bool = False,
        rack: str = "",
    ) -> None:
        super().__init__(world, host, name)
        self._rack = rack
        self._read_committed = read_committed
        self.positions = dict.fromkeys(places, 0)
        self._final = final
        self._at_end: set[TopicPartition] = set()
        self._out_of_range: list[TopicPartition] = []
        self._session_id = 0
        self._epoch = 0
        self._told: dict[TopicPartition, int] = {}  # positions as the session knows them
        self._limits = world.random.pick(((1 << 20, 1 << 20), (1 << 20, 300), (700, 1 << 20)))

    def connected(self) -> None:
        self._session_id = self._epoch = 0
        self._told.clear()
        self._out_of_range.clear()
        self._fetch()

    def _fetch(self) -> None:
        if not self.is_connected or self.finished:
            return
        random = self.world.random
        max_bytes, partition_max_bytes = self._limits
        request = FetchRequest(
            max_wait_ms=0 if self._final else random.pick((0, 20, 300)),
            min_bytes=random.pick((1, 1, 500)),
            max_bytes=max_bytes,
            isolation_level=int(self._read_committed),
            session_id=self._session_id,
            session_epoch=-1 if self._final else self._epoch,
            topics=self._news(partition_max_bytes),
            rack_id=self._rack,
        )
        self.ask(request, _VERSION, self._answered)

    def _news(self, partition_max_bytes: int) -> list[FetchTopic]:
        """All partitions for a new session; then only those whose position has changed."""
        topics: dict[str, list[FetchPartition]] = {}
        for place, position in self.positions.items():
            if self._told.get(place) != position:
                self._told[place] = position
                asked = FetchPartition(
                    place.partition, fetch_offset=position, partition_max_bytes=partition_max_bytes
                )
                topics.setdefault(place.topic, []).append(asked)
        return [FetchTopic(topic=topic, partitions=partitions) for topic, partitions in topics.items()]

    def _answered(self, answer: Message) -> None:
        assert isinstance(answer, FetchResponse)
        if answer.error_code:
            self.try_again()
            return
        self._session_id = answer.session_id
        if answer.session_id:
            self._epoch += 1
        else:
            self._told.clear()
        for topic in answer.responses:
            for data in topic.partitions:
                self._take(TopicPartition(topic.topic, data.partition_index), data)
        if self._final and self._at_end >= set(self.positions):
            self.finish()
        else:
            self._go_on()

    def _go_on(self) -> None:
        if self._out_of_range:
            self._reset(self._out_of_range.pop())
        else:
            self.world.soon(0 if self._final else _PAUSE_MS, self._fetch)

    def _take(self, place: TopicPartition, data: PartitionData) -> None:
        position = self.positions[place]
        seen, next_offset = seen_by(self.name, place, position, data, self._read_committed, self.life)
        self.world.history.add(replace(seen, final=True) if self._final else seen)
        self.positions[place] = max(position, next_offset)
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._out_of_range.append(place)
        if data.error_code == 0 and self.positions[place] >= data.high_watermark:
            self._at_end.add(place)

    def _reset(self, place: TopicPartition) -> None:
        """As `auto.offset.reset=earliest`."""

        def answered(answer: Message) -> None:
            assert isinstance(answer, ListOffsetsResponse)
            self.positions[place] = max(answer.topics[0].partitions[0].offset, 0)
            self._go_on()

        asked = ListOffsetsPartition(place.partition, timestamp=_EARLIEST)
        request = ListOffsetsRequest(topics=[ListOffsetsTopic(place.topic, [asked])])
        self.ask(request, _LIST_OFFSETS_VERSION, answered)


def seen_by(
    consumer: str, place: TopicPartition, position: int, data: PartitionData, read_committed: bool, life: int
) -> tuple[Seen, int]:
    """What an answer tells a consumer that asked from `position`, and where it goes on."""
    read = read_answer(data, read_committed=read_committed)
    seen = Seen(
        consumer,
        place,
        position,
        data.error_code,
        data.high_watermark,
        data.log_start_offset,
        tuple(record for record in read.records if record.offset >= position),
        read.problem,
        life,
        final=False,
        read_committed=read_committed,
        last_stable_offset=data.last_stable_offset,
        skipped=tuple(offset for offset in read.skipped if offset >= position),
        leader_epoch=read.leader_epoch,
    )
    return seen, max(position, read.next_offset)
