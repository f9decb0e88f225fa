"""What goes over the wire without Spark: trucks that send, services that read, and how far each group is."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event
from typing import NamedTuple

from barnabas.cli.barnabas.demo import fleet, topics
from barnabas.cli.barnabas.demo.services import Service
from barnabas.client import Admin, Consumer, Producer, from_json, to_json
from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster
from barnabas.wire.admin import group_offsets

Offsets = Mapping[int, int]  # per partition
_POLL_SECONDS = 0.2
_FIRST_ANSWER_MS = 5_000
_SILENT_SECONDS_MAX = 30.0


@dataclass(frozen=True)
class Drive:
    """One run of the demo on one broker. `starts` is where its topics ended before it: an older fleet may
    have driven here."""

    server: str
    truck_count: int
    report_count: int
    seconds: float  # how long the drive takes here, not for the trucks
    start_ms: int
    starts: Mapping[str, Offsets]
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    halted: Event = field(default_factory=Event)  # somebody failed: everybody ends

    @property
    def position_count(self) -> int:
        return self.truck_count * self.report_count

    def reports(self) -> Iterator[fleet.Report]:
        return fleet.reports(self.truck_count, self.report_count, self.start_ms)


def prepare(server: str, names: Collection[str]) -> dict[str, dict[int, int]]:
    """Makes the topics where there are none; says where they end."""
    with Admin(server, default_api_timeout_ms=_FIRST_ANSWER_MS) as admin:
        for name in names:
            # The last record of a window is the one that counts: what compaction keeps.
            config = {"cleanup.policy": "compact"} if name == topics.SUMMARY else None
            admin.create_topic(name, partitions=topics.PARTITIONS[name], config=config, exists_ok=True)
        return {
            name: {partition: row.end for partition, row in admin.offsets(name).items()} for name in names
        }


def send(drive: Drive, advance: Callable[[int], None]) -> None:
    """Every truck's position, keyed by truck, so that each truck's are in one partition and in order."""
    began = time.monotonic()
    with Producer(drive.server, value_serialiser=to_json, linger_ms=20) as producer:
        for count, report in enumerate(drive.reports(), 1):
            value = topics.value_of(report)
            producer.send(topics.POSITIONS, value, key=report.truck, timestamp_ms=report.time_ms)
            if count % drive.truck_count == 0:
                advance(drive.truck_count)
                early_s = began + drive.seconds * count / drive.position_count - time.monotonic()
                if drive.halted.wait(max(0.0, early_s)):
                    return


def read(drive: Drive, group: str, service: Service, advance: Callable[[int], None]) -> None:
    """Hands the drive's positions to a service that is a consumer group of its own."""
    starts = drive.starts[topics.POSITIONS]
    count = 0
    with Consumer(
        drive.server, topics.POSITIONS, group=group, start="earliest", value_deserialiser=from_json,
        auto_commit_interval_ms=500,
    ) as consumer:  # fmt: skip
        while count < drive.position_count and not drive.halted.is_set():
            batch = consumer.poll_batch(_POLL_SECONDS)
            ours = [record for record in batch if record.offset >= starts[record.partition]]
            for record in ours:
                service.see(topics.report_of(record.value, record.timestamp_ms))
            count += len(ours)
            advance(len(ours))
        consumer.poll_batch(0)  # asking for more says that it is done with these


def records_of(drive: Drive, topic: str) -> Iterator[dict[str, object]]:
    """What this run's transactions have committed to a topic."""
    starts = drive.starts[topic]
    with Consumer(
        drive.server, topic, start=drive.began, until_end=True, timeout_seconds=_SILENT_SECONDS_MAX,
        value_deserialiser=from_json, isolation_level="read_committed",
    ) as consumer:  # fmt: skip
        for batch in consumer.batches():
            yield from (record.value for record in batch if record.offset >= starts[record.partition])


class Progress(NamedTuple):
    """How far a group is with what this run has written."""

    group: str
    topic: str
    done: int
    end: int

    @property
    def lag(self) -> int:
        return self.end - self.done


def progress(cluster: Cluster, admin: Admin, drive: Drive, groups: Collection[str]) -> list[Progress]:
    # First what was read, then what was written: who has no lag then has read all that the others wrote.
    committed = {group: group_offsets.committed(cluster, group) for group in groups}
    ends = {name: admin.offsets(name) for name in {topics.READS[group] for group in groups}}
    found = []
    for group, offsets in committed.items():
        topic, done, end = topics.READS[group], 0, 0
        for partition, start in drive.starts[topic].items():
            at = offsets.get(TopicPartition(topic, partition))
            done += 0 if at is None else max(0, at.offset - start)
            end += ends[topic][partition].end - start
        found.append(Progress(group, topic, done, end))
    return found
