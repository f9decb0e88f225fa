"""Consumers that read everything from the beginning, with fetch sessions, and write down what they see."""

from __future__ import annotations

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.ports import FileSlice
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
from barnabas.records.batch import HEADER_SIZE, MAGIC, crc_matches, read_header
from barnabas.records.errors import MalformedRecordsError
from barnabas.records.walk import records_of
from barnabas.sim.clients import Client
from barnabas.sim.history import Seen, SeenRecord
from barnabas.sim.host import Host
from barnabas.sim.world import World

_VERSION = 12
_LIST_OFFSETS_VERSION = 7
_EARLIEST = -2
_LIMIT = 1 << 24
_PAUSE_MS = 15


class Consumer(Client):
    """`final`: stop when every partition is read to its end."""

    def __init__(
        self, world: World, host: Host, name: str, places: list[TopicPartition], *, final: bool = False
    ) -> None:
        super().__init__(world, host, name)
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
            session_id=self._session_id,
            session_epoch=-1 if self._final else self._epoch,
            topics=self._news(partition_max_bytes),
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
        assert not isinstance(data.records, FileSlice)
        records, next_offset, problem = read_batches(bytes(data.records or b""))
        position = self.positions[place]
        self.world.history.add(
            Seen(
                self.name,
                place,
                position,
                data.error_code,
                data.high_watermark,
                data.log_start_offset,
                tuple(record for record in records if record.offset >= position),
                problem,
                self.life,
                self._final,
            )
        )
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


def read_batches(data: bytes) -> tuple[list[SeenRecord], int, str]:
    """The records of whole batches, the offset behind them, and what is wrong with the bytes. A cut-off last
    batch is no problem, a cut-off first one is: a consumer could never go on."""
    records: list[SeenRecord] = []
    position = next_offset = 0
    while position < len(data):
        if len(data) - position < HEADER_SIZE:
            return records, next_offset, "" if position else "the first batch is cut off"
        header = read_header(data, position)
        if header.magic != MAGIC or header.size < HEADER_SIZE:
            return records, next_offset, f"no batch at byte {position}"
        if position + header.size > len(data):
            return records, next_offset, "" if position else "the first batch is cut off"
        if not crc_matches(data, position, header):
            return records, next_offset, f"wrong checksum at offset {header.base_offset}"
        try:
            found = list(records_of(data, position, header, _LIMIT))
        except MalformedRecordsError as malformed:
            return records, next_offset, str(malformed)
        records += [SeenRecord(one.offset, one.key, one.value, one.timestamp) for one in found]
        position += header.size
        next_offset = header.next_offset
    return records, next_offset, ""
