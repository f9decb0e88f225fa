"""Members of a consumer group against a shard in memory, one heartbeat per line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.support.coordination import FakeShardHost

from barnabas.coordination.outcome import Entry
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.group import Caller
from barnabas.groups.shard import GroupShard
from barnabas.model.errors import ErrorCode
from barnabas.model.image import ClusterImage, PartitionImage, TopicImage
from barnabas.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

GROUP = "g"
CALLER = Caller("client", "/127.0.0.1", 1)


def topic_id(name: str) -> bytes:
    return name.encode().ljust(16, b".")[:16]


def image_with(version: int = 1, **partition_counts: int) -> ClusterImage:
    topics = {
        name: TopicImage(
            name, topic_id(name), tuple(PartitionImage(index, (1,), (1,), 1) for index in range(count))
        )
        for name, count in partition_counts.items()
    }
    return ClusterImage(
        version=version, topics=topics, topic_names={topic.id: name for name, topic in topics.items()}
    )


class Scene:
    """A shard, its host and its topics."""

    def __init__(self, settings: Mapping[str, str] | None = None, **partition_counts: int) -> None:
        self.host = FakeShardHost(dict(settings or {}), image_with(**partition_counts))
        self.shard = GroupShard(self.host)
        self.host.shard = self.shard

    @property
    def group(self) -> ConsumerGroup:
        group = self.shard.groups[GROUP]
        assert isinstance(group, ConsumerGroup)
        return group

    def change_topics(self, **partition_counts: int) -> None:
        old = self.host.image
        self.host.image = image_with(old.version + 1, **partition_counts)
        for outcome in self.shard.image_changed(old):
            self.host.apply(outcome)

    def heartbeat(self, member_id: str, epoch: int, **fields: object) -> ConsumerGroupHeartbeatResponse:
        fields.setdefault("topic_partitions", None)
        version = fields.pop("version", 1)
        assert isinstance(version, int)
        request = ConsumerGroupHeartbeatRequest(GROUP, member_id, epoch, **fields)  # type: ignore[arg-type]
        caller = CALLER._replace(version=version)
        ticket = self.host.ask(lambda each: self.shard.consumer_group_heartbeat(request, caller, each))
        assert isinstance(ticket.response, ConsumerGroupHeartbeatResponse)
        return ticket.response

    def restart(self) -> None:
        self.shard = GroupShard(self.host)
        self.host.reload(self.shard)

    def written(self, since: int = 0) -> list[Entry]:
        return [entry for entry, _ in self.host.log[since:]]


class Consumer:
    """A well-behaved client: it owns what it is told, as soon as it is told."""

    def __init__(self, scene: Scene, member_id: str, *topics: str, **fields: object) -> None:
        self.scene, self.member_id, self.epoch = scene, member_id, 0
        self.owned: dict[bytes, list[int]] = {}
        self.answer = self._send(
            topic_partitions=[],
            rebalance_timeout_ms=fields.pop("rebalance_timeout_ms", 30_000),
            subscribed_topic_names=list(topics),
            **fields,
        )

    def _send(self, **fields: object) -> ConsumerGroupHeartbeatResponse:
        answer = self.scene.heartbeat(self.member_id, self.epoch, **fields)
        if answer.error_code == ErrorCode.NONE:
            assert answer.member_id is not None
            self.member_id, self.epoch = answer.member_id, answer.member_epoch
            if answer.assignment is not None:
                self.owned = {
                    row.topic_id: list(row.partitions) for row in answer.assignment.topic_partitions
                }
        self.answer = answer
        return answer

    def beat(self, **fields: object) -> ConsumerGroupHeartbeatResponse:
        """Says what it owns."""
        return self._send(topic_partitions=rows(self.owned), **fields)

    def beat_silently(self, **fields: object) -> ConsumerGroupHeartbeatResponse:
        return self._send(**fields)

    def leave(self, epoch: int = -1, **fields: object) -> ConsumerGroupHeartbeatResponse:
        return self.scene.heartbeat(self.member_id, epoch, **fields)

    @property
    def partitions(self) -> list[tuple[str, int]]:
        names = self.scene.host.image.topic_names
        return sorted((names[each], number) for each, numbers in self.owned.items() for number in numbers)


def rows(owned: Mapping[bytes, Sequence[int]]) -> list[TopicPartitions]:
    return [TopicPartitions(each, list(numbers)) for each, numbers in owned.items()]


def settle(scene: Scene, *consumers: Consumer, rounds: int = 6) -> None:
    """Time enough for a new assignment, and heartbeats enough for everybody to get there."""
    scene.host.pass_ms(1_000)
    for _ in range(rounds):
        for consumer in consumers:
            consumer.beat()
