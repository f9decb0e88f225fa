"""The topics that are written to: how many partitions each has, asked once."""

from __future__ import annotations

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.spark.errors import PipelineError
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
