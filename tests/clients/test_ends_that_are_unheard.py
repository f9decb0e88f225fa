"""Who cannot run a batch again asks the ledger whether an end was carried out whose answer got lost."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.ready import create_ready_topic

from barnabas.model.ids import TopicPartition
from barnabas.records.build import build_batch
from barnabas.records.walk import Record
from barnabas.spark.options import Options
from barnabas.spark.sink.commit import abort_ours, begin, end, end_surely, forget
from barnabas.spark.sink.ledger import Entry, group_of
from barnabas.spark.sink.reports import FencedError, Written
from barnabas.spark.sink.settings import sink_of
from barnabas.testing import BrokerProcess
from barnabas.wire import Cluster, TimedOutError
from barnabas.wire.producing import Appender, Batch
from barnabas.wire.transactions import Producer, Transactions, stable_offsets


def _append(cluster: Cluster, producer: Producer, partition: TopicPartition) -> Written:
    sealed = build_batch(
        [Record(0, 0, None, b"row")],
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        base_sequence=0,
        transactional=True,
    )
    assert producer.transactional_id is not None
    Transactions(cluster, producer.transactional_id).add(producer, [partition])
    appender = Appender(cluster, producer.transactional_id)
    offset = appender.append({partition: Batch(sealed, 1)})[partition]
    return Written(partition.topic, partition.partition, 1, offset, offset)


@pytest.mark.parametrize("is_carried_out", [True, False])
def test_an_unheard_end_is_a_success_only_if_it_was_carried_out(
    target: BrokerProcess, topic: str, monkeypatch: pytest.MonkeyPatch, is_carried_out: bool
) -> None:
    create_ready_topic(target, topic)
    sink = sink_of(Options({"kafka.bootstrap.servers": target.bootstrap, "topic": topic}))
    end_transaction = Transactions.end

    def unheard(self: Transactions, *arguments: Any, **named: Any) -> None:
        if is_carried_out:
            end_transaction(self, *arguments, **named)
        raise TimedOutError("no answer")

    with sink.connect() as cluster:
        begun = begin(sink, cluster, f"id-{topic}")
        written = [_append(cluster, begun.producer, TopicPartition(topic, 0))]
        monkeypatch.setattr(Transactions, "end", unheard)
        if is_carried_out:
            end_surely(sink, cluster, begun, written, Entry("frame", 0))
        else:
            with pytest.raises(TimedOutError):
                end_surely(sink, cluster, begun, written, Entry("frame", 0))
        assert len(stable_offsets(cluster, group_of(f"id-{topic}"))) == is_carried_out
        forget(cluster, f"id-{topic}")
        assert stable_offsets(cluster, group_of(f"id-{topic}")) == {}


def test_an_abort_does_not_take_the_id_from_who_has_it_by_now(target: BrokerProcess, topic: str) -> None:
    create_ready_topic(target, topic)
    sink = sink_of(Options({"kafka.bootstrap.servers": target.bootstrap, "topic": topic}))
    with sink.connect() as cluster:
        ours = begin(sink, cluster, f"id-{topic}")
        theirs = begin(sink, cluster, f"id-{topic}")
        written = [_append(cluster, theirs.producer, TopicPartition(topic, 0))]
        abort_ours(cluster, ours)
        end(cluster, theirs, written, Entry("frame", 0))
        assert len(stable_offsets(cluster, group_of(f"id-{topic}"))) == 1
        forget(cluster, f"id-{topic}")


def test_an_abort_ends_what_is_open_and_who_goes_on_is_fenced(target: BrokerProcess, topic: str) -> None:
    create_ready_topic(target, topic)
    sink = sink_of(Options({"kafka.bootstrap.servers": target.bootstrap, "topic": topic}))
    with sink.connect() as cluster:
        begun = begin(sink, cluster, f"id-{topic}")
        written = [_append(cluster, begun.producer, TopicPartition(topic, 0))]
        abort_ours(cluster, begun)
        with pytest.raises(FencedError):
            end(cluster, begun, written, Entry("frame", 0))
        assert stable_offsets(cluster, group_of(f"id-{topic}")) == {}
