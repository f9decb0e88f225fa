"""Incremental fetch sessions (KIP-227) and topic ids (KIP-516), spoken by hand."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from tests.support.batches import Batch
from tests.support.requests import produce_request, request_module
from tests.support.wire import Connection

from barnabas.testing import BrokerProcess

FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH, UNKNOWN_TOPIC_ID = 70, 71, 100


def _fetch(
    connection: Connection,
    topic: Any,
    offsets: dict[int, int],
    *,
    session_id: int = 0,
    epoch: int = 0,
    forgotten: tuple[int, ...] = (),
    version: int = 12,
) -> Any:
    schema = request_module(1, version)
    field = "topic_id" if version >= 13 else "topic"
    partitions = tuple(
        schema.FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1_048_576)
        for index, offset in offsets.items()
    )
    topics = (schema.FetchTopic(**{field: topic}, partitions=partitions),) if partitions else ()
    forgotten_topics = (schema.ForgottenTopic(**{field: topic}, partitions=forgotten),) if forgotten else ()
    request = schema.FetchRequest(
        replica_id=-1,
        max_wait=timedelta(0),
        min_bytes=0,
        max_bytes=50_000_000,
        isolation_level=0,
        session_id=session_id,
        session_epoch=epoch,
        topics=topics,
        forgotten_topics_data=forgotten_topics,
        rack_id="",
    )
    return connection.ask(request)


def _partitions(response: Any) -> dict[int, Any]:
    return {part.partition_index: part for topic in response.responses for part in topic.partitions}


def _produce(connection: Connection, topic: str, partition: int) -> None:
    connection.ask(produce_request(topic, Batch(values=[b"news"]).encode(), partition=partition))


def test_a_session_answers_only_with_what_changed(target: BrokerProcess, existing_topic: str) -> None:
    with Connection(target.port) as connection:
        full = _fetch(connection, existing_topic, {0: 0, 1: 0})
        assert full.session_id != 0
        assert sorted(_partitions(full)) == [0, 1]
        session = full.session_id
        nothing = _fetch(connection, existing_topic, {}, session_id=session, epoch=1)
        assert (nothing.session_id, _partitions(nothing)) == (session, {})
        _produce(connection, existing_topic, 1)
        news = _partitions(_fetch(connection, existing_topic, {}, session_id=session, epoch=2))
        assert list(news) == [1]
        assert b"news" in news[1].records
        moved_on = _fetch(connection, existing_topic, {1: 1}, session_id=session, epoch=3)
        assert all(not part.records for part in _partitions(moved_on).values())


def test_a_forgotten_partition_is_not_mentioned_again(target: BrokerProcess, existing_topic: str) -> None:
    with Connection(target.port) as connection:
        session = _fetch(connection, existing_topic, {0: 0, 1: 0}).session_id
        _fetch(connection, existing_topic, {}, session_id=session, epoch=1, forgotten=(1,))
        _produce(connection, existing_topic, 0)
        _produce(connection, existing_topic, 1)
        assert list(_partitions(_fetch(connection, existing_topic, {}, session_id=session, epoch=2))) == [0]


def test_a_session_nobody_knows_is_refused(target: BrokerProcess, existing_topic: str) -> None:
    with Connection(target.port) as connection:
        answer = _fetch(connection, existing_topic, {0: 0}, session_id=123_456_789, epoch=1)
    assert (answer.error_code, answer.responses) == (FETCH_SESSION_ID_NOT_FOUND, ())


def test_a_session_epoch_out_of_turn_is_refused(target: BrokerProcess, existing_topic: str) -> None:
    with Connection(target.port) as connection:
        session = _fetch(connection, existing_topic, {0: 0}).session_id
        answer = _fetch(connection, existing_topic, {}, session_id=session, epoch=7)
    assert (answer.error_code, answer.responses) == (INVALID_FETCH_SESSION_EPOCH, ())


def test_a_closed_session_is_forgotten(target: BrokerProcess, existing_topic: str) -> None:
    with Connection(target.port) as connection:
        session = _fetch(connection, existing_topic, {0: 0}).session_id
        last = _fetch(connection, existing_topic, {0: 0}, session_id=session, epoch=-1)
        assert (last.error_code, last.session_id) == (0, 0)
        answer = _fetch(connection, existing_topic, {}, session_id=session, epoch=1)
    assert answer.error_code == FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.parametrize("version", [13, 15, 16, 17])
def test_a_fetch_by_topic_id_finds_the_topic(
    target: BrokerProcess, existing_topic: str, version: int
) -> None:
    with Connection(target.port) as connection:
        _produce(connection, existing_topic, 0)
        topic_id = _topic_id(connection, existing_topic)
        answer = _fetch_by_id(connection, topic_id, version)
    assert b"news" in _partitions(answer)[0].records


def test_an_unknown_topic_id_has_its_own_error(target: BrokerProcess, existing_topic: str) -> None:
    with Connection(target.port) as connection:
        answer = _fetch_by_id(connection, uuid.uuid4(), 13)
    assert [part.error_code for part in _partitions(answer).values()] == [UNKNOWN_TOPIC_ID]


def _topic_id(connection: Connection, topic: str) -> uuid.UUID:
    schema = request_module(3, 12)
    request = schema.MetadataRequest(
        topics=(schema.MetadataRequestTopic(topic_id=None, name=topic),),
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=False,
    )
    (described,) = connection.ask(request).topics
    assert isinstance(described.topic_id, uuid.UUID)
    return described.topic_id


def _fetch_by_id(connection: Connection, topic_id: uuid.UUID, version: int) -> Any:
    if version < 15:
        return _fetch(connection, topic_id, {0: 0}, version=version)
    schema = request_module(1, version)
    partition = schema.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1_048_576)
    request = schema.FetchRequest(
        max_wait=timedelta(0),
        min_bytes=0,
        max_bytes=50_000_000,
        isolation_level=0,
        session_id=0,
        session_epoch=-1,
        topics=(schema.FetchTopic(topic_id=topic_id, partitions=(partition,)),),
        forgotten_topics_data=(),
        rack_id="",
    )
    return connection.ask(request)
