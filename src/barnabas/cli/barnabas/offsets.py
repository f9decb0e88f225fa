"""barnabas offsets: where partitions begin and end, the offset for a time, deleting old records."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import datetime

from barnabas.cli.barnabas.common import connect, run, show, verbs
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster, check
from barnabas.wire.admin import offsets
from barnabas.wire.admin.offsets import Found, Spec


def main(arguments: Sequence[str]) -> int:
    table = (
        ("show", "first and next offset of each partition", _topic, _show),
        ("at", "the first offset not older than a time", _at_arguments, _at),
        ("trim", "delete the records before an offset", _trim_arguments, _trim),
    )
    return run(verbs("offsets", "Offsets: show them, find them by time, trim partitions.", table), arguments)


def _topic(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic")


def _at_arguments(parser: argparse.ArgumentParser) -> None:
    _topic(parser)
    parser.add_argument("time", help="2026-01-31T12:00:00, or milliseconds since 1970")


def _trim_arguments(parser: argparse.ArgumentParser) -> None:
    _topic(parser)
    parser.add_argument("partition", type=int)
    parser.add_argument("before", type=int, help="the first offset to keep; -1 keeps nothing")


def _partitions(cluster: Cluster, topic: str) -> list[TopicPartition]:
    (found,) = cluster.metadata([topic]).topics
    check(found.error_code, f"There is no topic '{topic}'." if found.error_code == 3 else None)
    return [TopicPartition(topic, index) for index in sorted(row.partition_index for row in found.partitions)]


def _asked_for(
    cluster: Cluster, partitions: Sequence[TopicPartition], time: int
) -> Mapping[TopicPartition, Found]:
    found = {}
    for partition, answer in offsets.list_offsets(cluster, dict.fromkeys(partitions, time)).items():
        if isinstance(answer, ApiError):
            raise answer
        found[partition] = answer
    return found


def _show(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        partitions = _partitions(cluster, asked.topic)
        first = _asked_for(cluster, partitions, Spec.EARLIEST)
        following = _asked_for(cluster, partitions, Spec.LATEST)
    rows = [
        (key.partition, first[key].offset, following[key].offset, following[key].offset - first[key].offset)
        for key in partitions
    ]
    show(asked, ("partition", "first", "next", "records at most"), rows, asked.topic)
    return 0


def _at(asked: argparse.Namespace) -> int:
    time = _milliseconds(asked.time)
    with connect(asked) as cluster:
        partitions = _partitions(cluster, asked.topic)
        found = _asked_for(cluster, partitions, time)
    rows = [
        (key.partition, found[key].offset if found[key].offset >= 0 else None, _when(found[key].timestamp))
        for key in partitions
    ]
    show(asked, ("partition", "offset", "record's time"), rows, asked.topic)
    return 0


def _trim(asked: argparse.Namespace) -> int:
    partition = TopicPartition(asked.topic, asked.partition)
    with connect(asked) as cluster:
        if partition not in _partitions(cluster, asked.topic):
            raise ApiError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"'{asked.topic}' has no partition {asked.partition}."
            )
        answer = offsets.delete_records(cluster, {partition: asked.before})[partition]
    if isinstance(answer, ApiError):
        raise answer
    show(asked, ("topic", "partition", "first"), [(asked.topic, asked.partition, answer)])
    return 0


def _milliseconds(text: str) -> int:
    if text.isdecimal():
        return int(text)
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        raise SystemExit(f"'{text}' is no time: write 2026-01-31T12:00:00 or milliseconds") from None


def _when(timestamp_ms: int) -> str | None:
    if timestamp_ms < 0:
        return None
    return datetime.fromtimestamp(timestamp_ms / 1000).isoformat(sep=" ", timespec="milliseconds")
