"""Producers: idempotent as librdkafka's (the same id, epoch and sequence on every retry), or plain."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from barnabas.protocol.schema import Message
from barnabas.records.build import build_batch
from barnabas.records.walk import Record
from barnabas.sim.clients import Client
from barnabas.sim.history import Acknowledged, Broke, GaveUp, Refused, Sent
from barnabas.sim.network import Door
from barnabas.sim.world import World

_IN_FLIGHT_MAX = 5
_TIMEOUT_MS = 1500
_BURST_MAX = 5
_VERSION = 11
_INIT_VERSION = 4
_LOST_ITS_PLACE = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID)


@dataclass(frozen=True, slots=True)
class Style:
    """How a producer behaves."""

    acks: int = -1
    idempotent: bool = True
    batches: int = 12
    largest_value: int = 400
    keys: int = 0  # how many different keys; 0: none
    tombstones: float = 0.0
    tries: int = 1 << 30  # then a batch is given up
    think_ms: int = 90  # the longest pause between two bursts
    may_start_over: bool = False  # the broker may have forgotten what it wrote
    # A broker takes whatever sequence a producer begins with, as Kafka's does: where the first batch may be
    # refused for the moment, the second must not be under way by then.
    begins_alone: bool = False


class _Batch:
    __slots__ = ("data", "sent", "sequence", "tries")

    def __init__(self, sent: Sent, sequence: int) -> None:
        self.sent = sent
        self.sequence = sequence
        self.data = b""
        self.tries = 0


class Producer(Client):
    def __init__(
        self, world: World, host: Door, name: str, places: list[TopicPartition], style: Style
    ) -> None:
        super().__init__(world, host, name)
        self.style = style
        self._places = places
        self._to_make = style.batches
        self._waiting: deque[_Batch] = deque()  # made, not on the wire
        self._flying: deque[_Batch] = deque()  # on the wire, oldest first
        self._next_sequence = dict.fromkeys(places, 0)
        self._next_number = dict.fromkeys(places, 0)
        self._identities: dict[TopicPartition, tuple[int, int]] = {}  # producer id and epoch
        self._thinking = False
        self._begun: set[TopicPartition] = set()  # where something was acknowledged

    # --- connection ----------------------------------------------------------------------------------------

    def connected(self) -> None:
        if not self._ready:
            self.ask(InitProducerIdRequest(None, 60_000), _INIT_VERSION, self._initialised)
        else:
            self._go_on()

    def _initialised(self, answer: Message) -> None:
        assert isinstance(answer, InitProducerIdResponse)
        if answer.error_code:
            self.try_again()
            return
        for place in self._places:
            self._identities.setdefault(place, (answer.producer_id, answer.producer_epoch))
        self._go_on()

    @property
    def _ready(self) -> bool:
        return not self.style.idempotent or len(self._identities) == len(self._places)

    def lost(self) -> None:
        """Unanswered batches go first, in their order."""
        self._waiting.extendleft(reversed(self._flying))
        self._flying.clear()

    # --- sending -------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        while self.is_connected and self._waiting and self.in_flight < _IN_FLIGHT_MAX:
            if not self._may_send(self._waiting[0]):
                break
            self._send()
        if not self.is_connected:
            return
        if self._to_make and not self._thinking:
            self._thinking = True
            self.world.soon(self.style.think_ms, self._thought)
        elif not (self._to_make or self._waiting or self._flying):
            self.finish()

    def _may_send(self, batch: _Batch) -> bool:
        place = batch.sent.place
        if not self.style.begins_alone or place in self._begun:
            return True
        return all(flying.sent.place != place for flying in self._flying)

    def _thought(self) -> None:
        self._thinking = False
        for _ in range(min(self._to_make, self.world.random.between(1, _BURST_MAX))):
            self._to_make -= 1
            self._waiting.append(self._make())
        if self.is_connected and self._ready:
            self._go_on()

    def _make(self) -> _Batch:
        place = self.world.random.pick(self._places)
        number = self._next_number[place]
        self._next_number[place] += 1
        count = self.world.random.pick((1, 1, 2, 5))
        sent = Sent(
            self.name,
            place,
            number,
            tuple(self._key() for _ in range(count)),
            tuple(self._value(place, number, at) for at in range(count)),
            self.style.idempotent,
            self.style.acks,
        )
        self.world.history.add(sent)
        batch = _Batch(sent, self._next_sequence[place])
        self._next_sequence[place] += count
        return batch

    def _key(self) -> bytes | None:
        return b"key-%d" % self.world.random.below(self.style.keys) if self.style.keys else None

    def _value(self, place: TopicPartition, number: int, at: int) -> bytes | None:
        if self.world.random.chance(self.style.tombstones):
            return None
        padding = b"." * self.world.random.below(self.style.largest_value)
        return f"{self.name}/{place}/{number}/{at}/".encode() + padding

    def _send(self) -> None:
        """The next batch, and now and then batches of other partitions with it."""
        together = [self._waiting.popleft()]
        while (
            self._waiting
            and self.world.random.chance(0.3)
            and self._waiting[0].sent.place not in {batch.sent.place for batch in together}
            and self._may_send(self._waiting[0])
        ):
            together.append(self._waiting.popleft())
        topics: dict[str, list[PartitionProduceData]] = {}
        for batch in together:
            place = batch.sent.place
            data = PartitionProduceData(place.partition, self._encode(batch))
            topics.setdefault(place.topic, []).append(data)
        request = ProduceRequest(
            None,
            self.style.acks,
            _TIMEOUT_MS,
            [TopicProduceData(name=topic, partition_data=data) for topic, data in topics.items()],
        )
        if self.style.acks == 0:
            self.tell(request, _VERSION)
        else:
            self._flying.extend(together)
            self.ask(request, _VERSION, lambda answer: self._answered(together, answer))

    def _encode(self, batch: _Batch) -> bytes:
        if not batch.data:
            pairs = zip(batch.sent.keys, batch.sent.values, strict=True)
            records = [Record(at, self.world.wall_ms, key, value) for at, (key, value) in enumerate(pairs)]
            producer_id, epoch = self._identities.get(batch.sent.place, (-1, -1))
            sequence = batch.sequence if self.style.idempotent else -1
            made = build_batch(records, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)
            batch.data = bytes(made)
        return batch.data

    # --- answers -------------------------------------------------------------------------------------------

    def _answered(self, together: list[_Batch], answer: Message) -> None:
        assert isinstance(answer, ProduceResponse)
        answers = {
            TopicPartition(topic.name, one.index): one
            for topic in answer.responses
            for one in topic.partition_responses
        }
        settled = [self._settle(batch, answers[batch.sent.place]) for batch in together]
        if not all(settled):
            self.try_again()
        else:
            self._go_on()

    def _settle(self, batch: _Batch, answer: PartitionProduceResponse) -> bool:
        """Whether nothing more is to be done for this batch."""
        code = answer.error_code
        if batch not in self._flying:
            return True  # given up with one before it
        if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            self._flying.remove(batch)
            self._begun.add(batch.sent.place)
            self.world.history.add(Acknowledged(batch.sent, answer.base_offset, self.life))
            return True
        self.world.history.add(Refused(self.name, batch.sent.place, code))
        batch.tries += 1
        first = next((one for one in self._flying if one.sent.place == batch.sent.place), None) is batch
        if code in _LOST_ITS_PLACE and first:
            self._lost_its_place(batch.sent.place, code)
        elif batch.tries >= self.style.tries:
            self._give_up(batch.sent.place, code)
        elif not ErrorCode(code).retriable and code not in _LOST_ITS_PLACE:
            self.world.history.add(Broke(f"{self.name}: {ErrorCode(code).name} for {batch.sent.place}"))
        return False

    def _lost_its_place(self, place: TopicPartition, code: int) -> None:
        """The broker does not know the batches that it acknowledged before."""
        if not self.style.may_start_over:
            self.world.history.add(Broke(f"{self.name}: {ErrorCode(code).name} in {place}"))
        self._give_up(place, code)

    def _give_up(self, place: TopicPartition, code: int) -> None:
        """Nobody will know what became of the batches that were sent there. What follows cannot keep its
        sequence, so it needs another producer id."""
        for batches in (self._flying, self._waiting):
            for batch in [one for one in batches if one.data and one.sent.place == place]:
                batches.remove(batch)
                self.world.history.add(GaveUp(batch.sent, code))
        self._identities.pop(place, None)
        self._next_sequence[place] = 0
        for batch in self._waiting:
            if batch.sent.place == place:
                batch.sequence = self._next_sequence[place]
                self._next_sequence[place] += len(batch.sent.values)
