"""Which replica a consumer reads from when its leader has sent it to a nearer one (KIP-392).

As in Kafka's own consumer: it stays there until that replica answers with an error, or for a while.
"""

from __future__ import annotations

from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.fetch import FetchRequest, FetchResponse
from barnabas.protocol.schema import Message
from barnabas.sim.world import SeededRandom

_LEAVES_CHANCE = 0.03


class Nearby:
    def __init__(self, random: SeededRandom) -> None:
        self._random = random
        self.replicas: dict[TopicPartition, int] = {}

    def of(self, request: Message) -> dict[TopicPartition, int]:
        return self.replicas if isinstance(request, FetchRequest) and request.rack_id else {}

    def heard(self, broker_id: int, answer: Message) -> None:
        if not isinstance(answer, FetchResponse):
            return
        for topic in answer.responses:
            for data in topic.partitions:
                place = TopicPartition(topic.topic, data.partition_index)
                if data.preferred_read_replica >= 0 and not data.error_code:
                    self.replicas[place] = data.preferred_read_replica
                elif self.replicas.get(place) == broker_id and self._leaves(data.error_code):
                    del self.replicas[place]
                    if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                        # The leader may have what this replica has not yet, or not any more.
                        data.error_code = ErrorCode.REPLICA_NOT_AVAILABLE

    def _leaves(self, error_code: int) -> bool:
        return bool(error_code) or self._random.chance(_LEAVES_CHANCE)
