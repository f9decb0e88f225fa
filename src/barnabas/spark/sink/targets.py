"""The topics that are written to: how many partitions each has, asked once."""

from __future__ import annotations

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.spark.errors import PipelineError
from barnabas.spark.sink.settings import Sink
from barnabas.spark.sink.telling import telling
from barnabas.wire import Cluster
from barnabas.wire.codes import known


class Targets:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._counts: dict[str, int] = {}

    def partition_count(self, topic: str) -> int:
        if topic not in self._counts:
            self._counts[topic] = self._cluster.retrying(lambda: self._ask(topic))
        return self._counts[topic]

    def _ask(self, topic: str) -> int:
        (row,) = self._cluster.metadata([topic]).topics
        code = known(row.error_code)
        if code in (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION):
            raise PipelineError(
                f"Topic {topic!r} does not exist: create it first, for example with "
                f"kafka-topics --create --topic {topic} --partitions 10."
            )
        if code is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            raise PipelineError(
                f"Not authorized to access topic {topic!r}: ask for Write, Describe and Read."
            )
        if code:
            raise ApiError(code)
        return len(row.partitions)


def partition_count_of(sink: Sink, cluster: Cluster) -> int | None:
    """Of the topic that the options name: asked anew for each batch, since topics grow."""
    topic = sink.topic
    return None if topic is None else telling(lambda: Targets(cluster).partition_count(topic))


def check_topic(sink: Sink) -> None:
    """Before anything starts: the brokers answer, and have the topic that the options name."""
    with sink.connect() as cluster:
        partition_count_of(sink, cluster)
