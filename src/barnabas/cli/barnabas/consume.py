"""barnabas consume: read a topic from a place on, to its present end or for ever. No group is involved."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from barnabas.cli.barnabas.common import add_common, connect, file_properties, run
from barnabas.cli.support.failures import ToolError
from barnabas.client.config import translate
from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster, check
from barnabas.wire.admin import offsets
from barnabas.wire.admin.offsets import Spec


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="barnabas consume", description="Print the records of a topic; with --json one object per line."
    )
    add_common(parser)
    parser.add_argument("topic")
    parser.add_argument("--partition", type=int, help="only this one")
    parser.add_argument("--offset", type=int, help="start here; needs --partition")
    parser.add_argument("--last", type=int, metavar="N", help="start N records before each partition's end")
    parser.add_argument("--max", type=int, metavar="N", help="stop after N records")
    parser.add_argument("--follow", action="store_true", help="wait for new records instead of stopping")
    parser.set_defaults(action=_consume)
    return run(parser, arguments)


def _consume(asked: argparse.Namespace) -> int:
    if asked.offset is not None and asked.partition is None:
        raise ToolError("--offset needs --partition: every partition counts its own offsets.")
    with connect(asked) as cluster:
        starts, ends = _bounds(cluster, asked)
    return _read(asked, starts, ends)


def _bounds(
    cluster: Cluster, asked: argparse.Namespace
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    (topic,) = cluster.metadata([asked.topic]).topics
    check(topic.error_code, f"There is no topic '{asked.topic}'." if topic.error_code == 3 else None)
    partitions = [
        TopicPartition(asked.topic, row.partition_index)
        for row in topic.partitions
        if asked.partition in {None, row.partition_index}
    ]
    if not partitions:
        raise ToolError(f"'{asked.topic}' has no partition {asked.partition}.")
    starts = _offsets(cluster, partitions, Spec.EARLIEST)
    ends = _offsets(cluster, partitions, Spec.LATEST)
    for partition in partitions:
        if asked.last is not None:
            starts[partition] = max(starts[partition], ends[partition] - asked.last)
        elif asked.offset is not None:
            starts[partition] = max(starts[partition], asked.offset)
    return starts, ends


def _offsets(cluster: Cluster, partitions: Sequence[TopicPartition], spec: Spec) -> dict[TopicPartition, int]:
    found = {}
    for partition, answer in offsets.list_offsets(cluster, dict.fromkeys(partitions, int(spec))).items():
        if isinstance(answer, ApiError):
            raise answer
        found[partition] = answer.offset
    return found


def _read(
    asked: argparse.Namespace, starts: dict[TopicPartition, int], ends: dict[TopicPartition, int]
) -> int:
    import confluent_kafka

    pending = {partition for partition in starts if asked.follow or starts[partition] < ends[partition]}
    if not pending:
        return 0
    consumer = confluent_kafka.Consumer(
        translate(file_properties(asked))
        | {
            "bootstrap.servers": asked.server,
            "group.id": "barnabas-consume",  # librdkafka wants a name; assigned partitions join no group
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    try:
        consumer.assign(
            [confluent_kafka.TopicPartition(key.topic, key.partition, starts[key]) for key in sorted(pending)]
        )
        _print_until(consumer, asked, ends, pending)
    finally:
        consumer.close()
    return 0


def _print_until(
    consumer: Any, asked: argparse.Namespace, ends: dict[TopicPartition, int], pending: set[TopicPartition]
) -> None:
    """A partition is finished at its end, or where the broker says there is nothing more: the last offsets
    may be taken by transaction markers, which are never shown."""
    printed = 0
    while pending and printed != asked.max:
        record = consumer.poll(asked.timeout)
        if record is None:
            if asked.follow:
                continue
            raise ToolError(f"No record came within {asked.timeout:g} seconds.")
        partition = TopicPartition(record.topic(), record.partition())
        if record.error() is not None:
            _check_end(record.error())
            if not asked.follow:
                pending.discard(partition)
            continue
        if not asked.follow and record.offset() >= ends[partition]:
            pending.discard(partition)
            continue
        print(_line(asked, record), flush=asked.follow)
        printed += 1
        if not asked.follow and record.offset() + 1 >= ends[partition]:
            pending.discard(partition)


def _check_end(error: Any) -> None:
    from confluent_kafka import KafkaError

    if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001  # librdkafka names its own codes so
        raise ToolError(error.str())


def _line(asked: argparse.Namespace, record: Any) -> str:
    key, value = _text(record.key()), _text(record.value())
    if asked.json:
        fields = {
            "partition": record.partition(),
            "offset": record.offset(),
            "timestamp": record.timestamp()[1],
            "key": key,
            "value": value,
            "headers": {name: _text(header) for name, header in record.headers() or ()},
        }
        return json.dumps(fields, ensure_ascii=False)
    place = f"{record.partition()}:{record.offset()}"
    if sys.stdout.isatty():
        place = f"\x1b[2m{place}\x1b[0m"
    return f"{place}\t{'' if key is None else key}\t{'null' if value is None else value}"


def _text(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode("utf-8", errors="replace")
