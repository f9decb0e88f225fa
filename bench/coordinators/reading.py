"""What a member does once it has partitions: committed offsets, then the beginning, then the first record."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from barnabas.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from bench.coordinators.ask import ask, check
from bench.coordinators.script import Step

EARLIEST = -2
FETCH_BYTES = 1_048_576


def read_first_records(
    group: str, topic: str, partitions: Sequence[int], member_id: str | None = None, member_epoch: int = -1
) -> Generator[Step, Any, None]:
    """The requests of a real client with `auto.offset.reset=earliest`, until each gave a record."""
    yield from _fetch_committed(group, topic, partitions, member_id, member_epoch)
    starts = [ListOffsetsPartition(partition, timestamp=EARLIEST) for partition in partitions]
    listed = yield from ask(
        ListOffsetsRequest(-1, topics=[ListOffsetsTopic(topic, starts)]), ListOffsetsResponse
    )
    offsets = {}
    for partition in listed.topics[0].partitions:
        check(partition.error_code, "ListOffsets")
        offsets[partition.partition_index] = partition.offset
    while offsets:
        for seen in (yield from _fetch(topic, offsets)):
            offsets.pop(seen, None)


def _fetch_committed(
    group: str, topic: str, partitions: Sequence[int], member_id: str | None, member_epoch: int
) -> Generator[Step, Any, None]:
    topics = [OffsetFetchRequestTopics(name=topic, partition_indexes=partitions)]
    asked = OffsetFetchRequestGroup(group, member_id, member_epoch, topics)
    answer = yield from ask(OffsetFetchRequest(groups=[asked], require_stable=True), OffsetFetchResponse)
    check(answer.groups[0].error_code, "OffsetFetch")


def _fetch(topic: str, offsets: dict[int, int]) -> Generator[Step, Any, list[int]]:
    """The partitions that gave at least one batch."""
    wanted = [
        FetchPartition(partition, fetch_offset=offset, partition_max_bytes=FETCH_BYTES)
        for partition, offset in offsets.items()
    ]
    request = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=FETCH_BYTES,
        topics=[FetchTopic(topic=topic, partitions=wanted)],
    )
    answer = yield from ask(request, FetchResponse)
    given = [partition for each in answer.responses for partition in each.partitions]
    for partition in given:
        check(partition.error_code, "Fetch")
    return [partition.partition_index for partition in given if partition.records]
