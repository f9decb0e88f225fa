"""One partition read through `barnabas.wire`, one answer under way while another is worked on."""

from __future__ import annotations

import pytest
from tests.conftest import StartTarget
from tests.support.filled_topics import Topics

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.records.batch import headers
from barnabas.testing import BrokerProcess
from barnabas.wire import Cluster
from barnabas.wire.fetching import Fetched, Fetcher


def offsets_in(fetched: Fetched) -> list[int]:
    found = headers(fetched.records, 0, len(fetched.records))
    return [offset for _, header in found for offset in range(header.base_offset, header.next_offset)]


def read_all(fetcher: Fetcher, end: int) -> list[int]:
    offsets: list[int] = []
    fetcher.ask(0)
    while True:
        fetched = fetcher.answer()
        if fetched.next_offset < end:
            fetcher.ask(fetched.next_offset)
        offsets += offsets_in(fetched)
        if fetched.next_offset >= end:
            return offsets


def test_answers_follow_one_another_without_gaps(target: BrokerProcess, topic: str) -> None:
    topics = Topics(target.bootstrap)
    topics.fill(topics.create(topic), range(500), settings={"batch.num.messages": 7})
    with Cluster.connect(target.bootstrap) as cluster:
        fetcher = Fetcher(cluster, TopicPartition(topic, 0), max_bytes=1_000)
        assert read_all(fetcher, 500) == list(range(500))


def test_a_broker_that_restarts_is_asked_again(start_target: StartTarget, topic: str) -> None:
    broker = start_target()
    topics = Topics(broker.bootstrap)
    topics.fill(topics.create(topic), range(50), settings={"batch.num.messages": 5})
    with Cluster.connect(broker.bootstrap) as cluster:
        fetcher = Fetcher(cluster, TopicPartition(topic, 0), max_bytes=300)
        fetcher.ask(0)
        first = fetcher.answer()
        fetcher.ask(first.next_offset)  # under way when the broker goes
        broker.restart()
        second = fetcher.answer()
        assert offsets_in(second)[0] == first.next_offset
        fetcher.ask(second.next_offset)
        broker.restart()
        assert offsets_in(fetcher.answer())[0] == second.next_offset


def test_an_answer_that_nobody_takes_disturbs_nobody(target: BrokerProcess, topic: str) -> None:
    topics = Topics(target.bootstrap)
    topics.fill(topics.create(topic), range(20))
    with Cluster.connect(target.bootstrap) as cluster:
        for _ in range(2):
            fetcher = Fetcher(cluster, TopicPartition(topic, 0))
            fetcher.ask(0)
            fetched = fetcher.answer()
            fetcher.ask(0)
            fetcher.close()
            assert offsets_in(fetched) == list(range(20))


def test_an_offset_out_of_range_is_an_error(target: BrokerProcess, topic: str) -> None:
    topics = Topics(target.bootstrap)
    topics.fill(topics.create(topic), range(20))
    topics.delete_records(topic, 5)
    with Cluster.connect(target.bootstrap) as cluster:
        fetcher = Fetcher(cluster, TopicPartition(topic, 0))
        for offset in (3, 99):
            fetcher.ask(offset)
            with pytest.raises(ApiError) as caught:
                fetcher.answer()
            assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_read_committed_names_what_was_aborted(target: BrokerProcess, topic: str) -> None:
    topics = Topics(target.bootstrap)
    topics.create(topic)
    topics.in_transaction(topic, range(3), commit=False, transactional_id=topic)
    with Cluster.connect(target.bootstrap) as cluster:
        for read_committed in (True, False):
            fetcher = Fetcher(cluster, TopicPartition(topic, 0), read_committed=read_committed)
            fetcher.ask(0)
            fetched = fetcher.answer()
            assert fetched.readable_end == 4  # the mark of the end is a record, too
            aborted = list((fetched.aborted or {}).values())
            assert aborted == ([[0]] if read_committed else [])
