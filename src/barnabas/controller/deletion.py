"""Deleting topics, by name or by id. Errors and messages are those of Kafka 4.3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import ZERO_UUID
from barnabas.model.image import ClusterImage, ConfigKind, ConfigResource, TopicDeleted, TopicImage
from barnabas.ports import Delete, Put, Write

# What one multi of ZooKeeper holds, even with the longest of names: each is two nodes.
_PARTITIONS_AT_ONCE_MAX = 1_000


@dataclass(frozen=True, slots=True)
class TopicSelector:
    """A topic to delete, by name or by id."""

    name: str | None = None
    topic_id: bytes = ZERO_UUID


@dataclass(frozen=True, slots=True)
class DeletedTopic:
    name: str | None
    topic_id: bytes
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


def delete_topics(image: ClusterImage, requests: Sequence[TopicSelector]) -> Decision[DeletedTopic]:
    """Everything of a topic goes in one multi, where that can be. The logs go when the brokers see the
    delta."""
    times = Counter(requests)
    results: list[DeletedTopic] = []
    doomed: list[TopicImage] = []
    for request, count in times.items():
        refusal = _malformed(request, count) or _unknown(image, request)
        if refusal is not None:
            # Only what names one topic in one way can be named twice.
            one_way = (request.name is None) != (request.topic_id == ZERO_UUID)
            results += [refusal] * (1 if one_way else count)
            continue
        topic = _find(image, request)
        assert topic is not None
        if topic in doomed:
            # Named once by name and once by id: neither spelling deletes it.
            doomed.remove(topic)
            results = [result for result in results if result.topic_id != topic.id]
            results.append(_refused(topic.name, topic.id, _TWICE))
            continue
        doomed.append(topic)
        results.append(DeletedTopic(topic.name, topic.id))
    if not doomed:
        return Decision(tuple(results))
    operations = [operation for topic in doomed for operation in _writes(topic)]
    deltas = tuple(TopicDeleted(topic.name, topic.id) for topic in doomed)
    return Decision(tuple(results), (fence(image), *operations), deltas)


def all_malformed(requests: Sequence[TopicSelector]) -> list[DeletedTopic]:
    """The refusals of all of them, if each is refused before the controller is asked at all; else none."""
    refusals = [_malformed(request, count) for request, count in Counter(requests).items()]
    known = [refusal for refusal in refusals if refusal is not None]
    return known if len(known) == len(refusals) else []


_TWICE = "The provided topic name maps to an ID that was already supplied."


def _malformed(request: TopicSelector, count: int) -> DeletedTopic | None:
    name, topic_id = request.name, request.topic_id
    if name is None and topic_id == ZERO_UUID:
        return _refused(None, ZERO_UUID, "Neither topic name nor id were specified.")
    if name is not None and topic_id != ZERO_UUID:
        return _refused(name, topic_id, "You may not specify both topic name and topic id.")
    if count > 1:
        return _refused(name, topic_id, f"Duplicate topic {'id' if name is None else 'name'}.")
    return None


def _unknown(image: ClusterImage, request: TopicSelector) -> DeletedTopic | None:
    if _find(image, request) is not None:
        return None
    by_id = request.name is None
    error = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return DeletedTopic(request.name, request.topic_id, error, error.sentence)


def _find(image: ClusterImage, request: TopicSelector) -> TopicImage | None:
    if request.name is None:
        return image.topic_by_id(request.topic_id)
    return image.topics.get(request.name)


def _refused(name: str | None, topic_id: bytes, message: str) -> DeletedTopic:
    return DeletedTopic(name, topic_id, ErrorCode.INVALID_REQUEST, message)


def _writes(topic: TopicImage) -> list[Write]:
    """A topic too wide for one multi is put on the list of those to delete first: from there the next
    controller goes on, should this one fall between the parts."""
    config = tree.config_path(ConfigResource(ConfigKind.TOPIC, topic.name))
    listed = f"{tree.DELETE_TOPICS}/{topic.name}"
    operations: list[Write] = []
    if len(topic.partitions) > _PARTITIONS_AT_ONCE_MAX:
        operations.append(Put(listed, b""))
        for partition in topic.partitions:
            operations.append(Delete(tree.state_path(topic.name, partition.index), missing_ok=True))
            operations.append(Delete(tree.partition_path(topic.name, partition.index), missing_ok=True))
    return [
        *operations,
        Delete(tree.topic_path(topic.name), recursive=True),
        Delete(config, missing_ok=True),
        Delete(listed, missing_ok=True),
    ]
