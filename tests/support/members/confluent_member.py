"""confluent-kafka as a member of a group, and as the group's administrator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import confluent_kafka
import confluent_kafka.admin
from tests.support.client import RefusedError
from tests.support.members.face import (
    CLASSIC,
    Committed,
    DescribedGroup,
    DescribedMember,
    Joining,
    Place,
    Received,
)
from tests.support.members.polled import POLL_S, PolledMember

_admin: Any = confluent_kafka.admin  # its names are not exported for type checkers
_library: Any = confluent_kafka
_TIMEOUT_S = 30
_NO_LEADER_EPOCH = (None, -1)
_FATAL_REASONS = {"Static consumer fenced": 82, "instance ID is still used": 111}


def settings_of(bootstrap: str, joining: Joining) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "log_level": 0,
        "client.id": joining.client_id,
        "group.id": joining.group,
        "group.protocol": joining.protocol,
        "enable.auto.commit": False,
        "auto.offset.reset": joining.start,
        "isolation.level": joining.isolation,
        "fetch.wait.max.ms": 50,
        "topic.metadata.refresh.interval.ms": joining.metadata_max_age_ms,
    }
    if joining.instance_id is not None:
        settings["group.instance.id"] = joining.instance_id
    if joining.protocol == CLASSIC:
        settings["session.timeout.ms"] = joining.session_timeout_ms
        settings["heartbeat.interval.ms"] = 100
        settings["partition.assignment.strategy"] = joining.assignor or "range"
    elif joining.assignor is not None:
        settings["group.remote.assignor"] = joining.assignor
    return settings


class ConfluentMember(PolledMember):
    consumer: Any

    def _open(self) -> None:
        self.consumer = _library.Consumer(settings_of(self._bootstrap, self._joining))
        wanted = list(self._joining.topics)
        self.consumer.subscribe(wanted if self._joining.pattern is None else [self._joining.pattern])

    def _poll(self) -> list[Received]:
        got = []
        with refusals():
            messages = self.consumer.consume(500, timeout=POLL_S)
        for message in messages:
            error = message.error()
            if error is None:
                got.append(Received(message.topic(), message.partition(), message.offset(), message.value()))
            elif error.code() == confluent_kafka.KafkaError._FATAL:
                raise RefusedError(_reason(error.str()), error.str())
        return got

    def _assigned(self) -> frozenset[Place]:
        with refusals():
            return frozenset((one.topic, one.partition) for one in self.consumer.assignment())

    def _commit(self, offsets: Mapping[Place, Committed] | None) -> None:
        with refusals():
            if offsets is None:
                self.consumer.commit(asynchronous=False)
                return
            rows = self.consumer.commit(offsets=_rows(offsets), asynchronous=False)
            for row in rows:
                if row.error is not None:
                    raise RefusedError(row.error.code(), row.error.str())

    def _committed(self, place: Place) -> Committed | None:
        with refusals():
            (row,) = self.consumer.committed([_library.TopicPartition(*place)], timeout=_TIMEOUT_S)
        return _committed(row)

    def _seek(self, place: Place, offset: int) -> None:
        with refusals():
            self.consumer.seek(_library.TopicPartition(*place, offset))

    def _offset_for_time(self, place: Place, timestamp_ms: int) -> int:
        with refusals():
            wanted = [_library.TopicPartition(*place, timestamp_ms)]
            return int(self.consumer.offsets_for_times(wanted, timeout=_TIMEOUT_S)[0].offset)

    def _close(self) -> None:
        self.consumer.close()


class ConfluentGroupAdmin:
    def __init__(self, bootstrap: str) -> None:
        self._admin = _admin.AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})

    def groups(self) -> set[str]:
        listed = self._admin.list_consumer_groups(request_timeout=_TIMEOUT_S).result(_TIMEOUT_S)
        assert listed.errors == []
        return {one.group_id for one in listed.valid}

    def describe(self, group: str) -> DescribedGroup:
        found = _result(self._admin.describe_consumer_groups([group], request_timeout=_TIMEOUT_S))
        members = [
            DescribedMember(
                one.member_id,
                one.group_instance_id,
                one.client_id,
                frozenset((at.topic, at.partition) for at in one.assignment.topic_partitions),
            )
            for one in found.members
        ]
        return DescribedGroup(found.state.name.lower(), tuple(members))

    def offsets(self, group: str) -> dict[Place, Committed]:
        wanted = [_library.ConsumerGroupTopicPartitions(group)]
        found = _result(self._admin.list_consumer_group_offsets(wanted, request_timeout=_TIMEOUT_S))
        rows = {(row.topic, row.partition): _committed(row) for row in found.topic_partitions}
        return {place: row for place, row in rows.items() if row is not None}

    def alter_offsets(self, group: str, offsets: Mapping[Place, int]) -> None:
        rows = _rows({place: Committed(offset) for place, offset in offsets.items()})
        wanted = [_library.ConsumerGroupTopicPartitions(group, rows)]
        found = _result(self._admin.alter_consumer_group_offsets(wanted, request_timeout=_TIMEOUT_S))
        for row in found.topic_partitions:
            if row.error is not None:
                raise RefusedError(row.error.code(), row.error.str())

    def delete_offsets(self, group: str, places: Iterable[Place]) -> None:
        raise NotImplementedError("confluent-kafka has no call for it")

    def delete_group(self, group: str) -> None:
        _result(self._admin.delete_consumer_groups([group], request_timeout=_TIMEOUT_S))


@contextmanager
def refusals() -> Iterator[None]:
    try:
        yield
    except confluent_kafka.KafkaException as problem:
        error = problem.args[0]
        raise RefusedError(error.code(), error.str()) from problem


def _reason(sentence: str) -> int:
    """Why it was fatal is told in words only."""
    return next((code for words, code in _FATAL_REASONS.items() if words in sentence), -1)


def _rows(offsets: Mapping[Place, Committed]) -> list[Any]:
    return [
        _library.TopicPartition(
            *place,
            one.offset,
            metadata=one.metadata,
            leader_epoch=-1 if one.leader_epoch is None else one.leader_epoch,
        )
        for place, one in offsets.items()
    ]


def _committed(row: Any) -> Committed | None:
    if row.error is not None:
        raise RefusedError(row.error.code(), row.error.str())
    if row.offset < 0:
        return None
    epoch = None if row.leader_epoch in _NO_LEADER_EPOCH else row.leader_epoch
    return Committed(row.offset, row.metadata or "", epoch)


def _result(futures: Mapping[Any, Future[Any]]) -> Any:
    (future,) = futures.values()
    with refusals():
        return future.result(_TIMEOUT_S)
