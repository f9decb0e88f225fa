"""What the planning side asks the brokers: which partitions there are, and where they begin and end."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.metadata import MetadataResponseTopic
from barnabas.spark.errors import PipelineError
from barnabas.spark.source.offsets import Offsets, names
from barnabas.spark.source.places import (
    EARLIEST,
    LATEST,
    AtOffsets,
    AtTimestamps,
    Everywhere,
    Place,
    refuse_incomplete,
)
from barnabas.spark.source.selection import Assign, Matching, Subscribe
from barnabas.spark.source.settings import SourceSettings
from barnabas.wire import Cluster
from barnabas.wire.admin.offsets import Found, list_offsets

T = TypeVar("T")


class MissingError(PipelineError):
    """What was asked for is not there; a retry may find it, as topics take a moment to become known."""


class Lookup:
    def __init__(self, cluster: Cluster, settings: SourceSettings) -> None:
        self._cluster = cluster
        self._settings = settings

    # --- which partitions ------------------------------------------------------------------------------

    def partitions(self) -> set[TopicPartition]:
        """Of a query that starts: what it names must exist."""
        return self._retrying(lambda: self._partitions(complete=True))

    def present(self, known: Collection[TopicPartition]) -> set[TopicPartition]:
        """Of a query that runs: what is gone is left out, and dealt with as lost data. That something `known`
        is gone is not believed at once: brokers that restart may not know better."""

        def attempt() -> set[TopicPartition]:
            found = self._partitions(complete=False)
            if not found.issuperset(known):
                raise MissingError(f"{names(set(known) - found)} are gone.")
            return found

        try:
            return self._retrying(attempt)
        except MissingError:
            return self._partitions(complete=False)

    def _partitions(self, complete: bool) -> set[TopicPartition]:
        match self._settings.selection:
            case Subscribe(topics):
                found = self._of_topics(topics)
                missing = [topic for topic in sorted(topics) if topic not in found]
                if missing and complete:
                    raise MissingError(_no_topic(missing[0]))
                return {row for rows in found.values() for row in rows}
            case Matching() as matching:
                rows = self._cluster.metadata().topics
                chosen = [row for row in rows if not row.is_internal and matching.matches(row.name or "")]
                return {partition for row in chosen for partition in _partitions_of(row)}
            case Assign(partitions):
                found = self._of_topics({partition.topic for partition in partitions})
                present = {
                    partition for partition in partitions if partition in found.get(partition.topic, ())
                }
                if complete and (absent := partitions - present):
                    raise MissingError(_no_partition(absent, found))
                return present

    def _of_topics(self, topics: Iterable[str]) -> dict[str, set[TopicPartition]]:
        found = {}
        for row in self._cluster.metadata(sorted(topics)).topics:
            if row.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                continue
            found[row.name or ""] = _partitions_of(row)
        return found

    # --- where they begin and end ----------------------------------------------------------------------

    def earliest(self, partitions: Collection[TopicPartition]) -> Offsets:
        return self._offsets(dict.fromkeys(partitions, EARLIEST))

    def latest(
        self, partitions: Collection[TopicPartition], known: Mapping[TopicPartition, int] | None = None
    ) -> Offsets:
        """Under read_committed: where the first open transaction begins. A partition that seems to end
        before what is `known` of it is asked again, as a leader of a moment ago may not know better."""
        wanted = dict.fromkeys(partitions, LATEST)
        found = self._offsets(wanted)
        for _ in range(self._settings.offset_retries):
            backwards = [row for row, offset in found.items() if offset < (known or {}).get(row, 0)]
            if not backwards:
                break
            time.sleep(self._settings.offset_retry_interval_ms / 1000)
            found |= self._offsets(dict.fromkeys(backwards, LATEST))
        return found

    def resolve(self, place: Place, partitions: Collection[TopicPartition]) -> Offsets:
        """The offsets that a place stands for, as they are now."""
        refuse_incomplete(place, partitions)
        match place:
            case Everywhere(word):
                return self._offsets(dict.fromkeys(partitions, word))
            case AtOffsets(offsets):
                words = {partition: offset for partition, offset in offsets.items() if offset < 0}
                return {**offsets, **self._offsets(words)}
            case AtTimestamps() as times:
                return self._at(times, partitions)

    def _at(self, times: AtTimestamps, partitions: Collection[TopicPartition]) -> Offsets:
        wanted = dict(times.timestamps_ms)
        if times.everywhere_ms is not None:
            wanted = dict.fromkeys(partitions, times.everywhere_ms)
        found = self._offsets(wanted)
        late = [partition for partition, offset in found.items() if offset < 0]
        if late and not times.or_latest:
            raise PipelineError(
                f"No record of {late[0]} is as young as {wanted[late[0]]}, which option {times.option} asks "
                "for: choose an earlier time, or set startingOffsetsByTimestampStrategy to latest."
            )
        return found | self._offsets(dict.fromkeys(late, LATEST))

    def _offsets(self, wanted: Mapping[TopicPartition, int]) -> Offsets:
        if not wanted:
            return {}
        answers = list_offsets(self._cluster, wanted, self._settings.read_committed)
        return {partition: _offset(partition, answer) for partition, answer in answers.items()}

    def _retrying(self, work: Callable[[], T]) -> T:
        for _ in range(self._settings.offset_retries):
            try:
                return work()
            except MissingError:
                time.sleep(self._settings.offset_retry_interval_ms / 1000)
        return work()


def _partitions_of(row: MetadataResponseTopic) -> set[TopicPartition]:
    if row.error_code:
        raise ApiError(ErrorCode(row.error_code), f"Topic {row.name}: {ErrorCode(row.error_code).sentence}")
    return {TopicPartition(row.name or "", partition.partition_index) for partition in row.partitions}


def _offset(partition: TopicPartition, answer: Found | ApiError) -> int:
    if isinstance(answer, ApiError):
        raise PipelineError(f"The offsets of {partition} cannot be had: {answer.code.name}: {answer}")
    return answer.offset


def _no_topic(topic: str) -> str:
    return (
        f"Topic '{topic}' does not exist: create it, for example with "
        f"kafka-topics --create --topic {topic}, or correct option subscribe."
    )


def _no_partition(absent: Collection[TopicPartition], found: Mapping[str, set[TopicPartition]]) -> str:
    first = min(absent)
    if first.topic not in found:
        return (
            f"Topic '{first.topic}' does not exist: create it, for example with "
            f"kafka-topics --create --topic {first.topic}, or correct option assign."
        )
    return (
        f"Option assign names partitions that do not exist: {names(absent)}; "
        f"topic '{first.topic}' has {len(found[first.topic])}."
    )
