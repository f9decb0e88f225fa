"""How files and folders of a log are called: Kafka's names, so that its tools find their way."""

from __future__ import annotations

import re
from dataclasses import dataclass

from barnabas.model.ids import TopicPartition

LOG = ".log"
INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
SNAPSHOT = ".snapshot"
DELETED = ".deleted"
CLEANED = ".cleaned"
SWAP = ".swap"
SEGMENT_SUFFIXES = (LOG, INDEX, TIME_INDEX, TRANSACTION_INDEX)

LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"

_OFFSET_FILE = re.compile(r"(\d{20})(\.(?:log|index|timeindex|txnindex|snapshot))")
_DELETE_DIRECTORY = re.compile(r"(\S+)-(\d+)\.(\S+)-delete")
_FUTURE_DIRECTORY = re.compile(r"(\S+)-(\d+)\.(\S+)-future")
_STRAY_DIRECTORY = re.compile(r"(\S+)-(\d+)\.(\S+)-stray")


def offset_file(offset: int, suffix: str) -> str:
    return f"{offset:020d}{suffix}"


def parse_offset_file(name: str) -> tuple[int, str] | None:
    """(offset, suffix) of a live segment or snapshot file; None for anything else."""
    match = _OFFSET_FILE.fullmatch(name)
    return (int(match[1]), match[2]) if match else None


@dataclass(frozen=True, slots=True)
class PartitionDirectory:
    topic_partition: TopicPartition


@dataclass(frozen=True, slots=True)
class DeletedDirectory:
    topic_partition: TopicPartition


@dataclass(frozen=True, slots=True)
class StrayDirectory:
    topic_partition: TopicPartition


@dataclass(frozen=True, slots=True)
class FutureDirectory:
    """A copy that was to become the partition's log in this directory."""

    topic_partition: TopicPartition


DirectoryKind = PartitionDirectory | DeletedDirectory | FutureDirectory | StrayDirectory


def parse_directory(name: str) -> DirectoryKind | None:
    """What a folder inside a log directory holds; None when it is not ours."""
    if match := _DELETE_DIRECTORY.fullmatch(name):
        return DeletedDirectory(TopicPartition(match[1], int(match[2])))
    if match := _FUTURE_DIRECTORY.fullmatch(name):
        return FutureDirectory(TopicPartition(match[1], int(match[2])))
    if match := _STRAY_DIRECTORY.fullmatch(name):
        return StrayDirectory(TopicPartition(match[1], int(match[2])))
    topic, separator, partition = name.rpartition("-")
    if not separator or not topic or not partition.isascii() or not partition.isdigit():
        return None
    return PartitionDirectory(TopicPartition(topic, int(partition)))


def delete_directory_name(topic_partition: TopicPartition, unique: str, why: str = "delete") -> str:
    """`<topic>-<partition>.<unique>-delete`, the topic cut so that the whole stays a legal file name."""
    suffix = f"-{topic_partition.partition}.{unique}-{why}"
    return topic_partition.topic[: 255 - len(suffix)] + suffix
