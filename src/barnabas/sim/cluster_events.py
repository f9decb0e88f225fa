"""What only somebody who sees every machine and the ensemble can tell about a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from barnabas.model.ids import TopicPartition


@dataclass(frozen=True, slots=True)
class StateWritten:
    """Somebody wrote a partition's state into the ensemble."""

    place: TopicPartition
    topic_id: str
    version: int
    controller_epoch: int  # of whoever wrote it
    present_epoch: int  # of whoever holds the office by then
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    eligible: tuple[int, ...]  # besides: eligible leader replicas, and the last known leader
    replicas: tuple[int, ...]  # as the topic's node has them then


@dataclass(frozen=True, slots=True)
class StateFound:
    """How a partition is when all should be well again."""

    place: TopicPartition
    leader: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    moving: tuple[int, ...] = ()  # replicas that are being added or removed


@dataclass(frozen=True, slots=True)
class BatchFound:
    base_offset: int
    next_offset: int
    leader_epoch: int
    checksum: int  # of all its bytes


@dataclass(frozen=True, slots=True)
class LogFound:
    """What one replica holds. `final`: when all should be well again; else when its process ended."""

    broker: int
    place: TopicPartition
    topic_id: str
    high_watermark: int
    batches: tuple[BatchFound, ...]
    final: bool


@dataclass(frozen=True, slots=True)
class Deleted:
    """An administrator was told that the topic is deleted."""

    topic: str


@dataclass(frozen=True, slots=True)
class DirectoriesFound:
    """The partitions that lie on a broker's disks at the end."""

    broker: int
    places: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class DeposedAsked:
    """A client asks a coordinator for offsets that does not know of its successor yet."""

    client: str
    place: TopicPartition  # where the group is remembered
    leader_epoch: int  # in which the one that is asked takes itself for the leader


ClusterEvent: TypeAlias = StateWritten | StateFound | LogFound | Deleted | DirectoriesFound | DeposedAsked
