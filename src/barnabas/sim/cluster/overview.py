"""Somebody who sees every machine and the ensemble, and writes down what no client can know."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from barnabas.broker.replication.partition import Partition
from barnabas.controller import tree
from barnabas.controller.znodes import topics as topic_nodes
from barnabas.controller.znodes.topics import StateNode
from barnabas.log.log import Log
from barnabas.log.names import PartitionDirectory, parse_directory
from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.records.batch import HEADER_SIZE, read_header
from barnabas.sim.cluster.cluster import Cluster
from barnabas.sim.cluster.machine import Machine
from barnabas.sim.cluster_events import BatchFound, DirectoriesFound, LogFound, StateFound, StateWritten
from barnabas.sim.disk import PowerLostError
from barnabas.store.tree import Changes

_EVERYTHING = 1 << 30


@dataclass(frozen=True, slots=True)
class _Topic:
    id: str
    replicas: dict[int, tuple[int, ...]]
    moving: dict[int, tuple[int, ...]]


class Overview:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._world = cluster.world
        self._home = cluster.ensemble.home
        self._home.begin(self)
        for machine in cluster.machines.values():
            machine.before_it_ends = lambda machine: self.write_down_logs(machine, final=False)

    # --- the ensemble --------------------------------------------------------------------------------------

    def see(self, changes: Changes) -> None:
        for path in sorted(changes.values):
            place = _place_of(path)
            state = self.state(place) if place is not None else None
            if place is not None and state is not None:
                topic = self._topic(place.topic)
                self._world.history.add(
                    StateWritten(
                        place,
                        topic.id if topic is not None else "",
                        self._home.tree.nodes[path].version,
                        state.controller_epoch,
                        self._present_epoch,
                        state.leader,
                        state.leader_epoch,
                        state.isr,
                        (*state.elr, *state.last_known_elr),
                        topic.replicas.get(place.partition, ()) if topic is not None else (),
                    )
                )

    def state(self, place: TopicPartition) -> StateNode | None:
        path = tree.state_path(*place)
        node = self._home.tree.nodes.get(path)
        return None if node is None else topic_nodes.decode_state(path, node.value)

    @property
    def _present_epoch(self) -> int:
        node = self._home.tree.nodes.get(tree.CONTROLLER_EPOCH)
        return 0 if node is None else int(node.value)

    def _topic(self, name: str) -> _Topic | None:
        path = tree.topic_path(name)
        node = self._home.tree.nodes.get(path)
        if node is None:
            return None
        decoded = topic_nodes.decode_topic(path, node.value)
        moving = {
            index: (*decoded.adding.get(index, ()), *decoded.removing.get(index, ()))
            for index in decoded.replicas
        }
        return _Topic((decoded.topic_id or b"").hex(), dict(decoded.replicas), moving)

    def partitions(self) -> Iterator[tuple[TopicPartition, tuple[int, ...]]]:
        """Every partition of the cluster, with its replicas."""
        for name in sorted(self._home.tree.nodes[tree.TOPICS].children):
            topic = self._topic(name)
            for index, replicas in sorted(topic.replicas.items()) if topic is not None else ():
                yield TopicPartition(name, index), replicas

    def states_with(self, broker_id: int) -> Iterator[StateNode]:
        """Of the partitions that have a replica there."""
        for place, replicas in self.partitions():
            state = self.state(place) if broker_id in replicas else None
            if state is not None:
                yield state

    @property
    def is_whole(self) -> bool:
        """Every broker serves, and every partition has a leader and all of its replicas in sync."""
        if any(machine.is_troubled for machine in self._cluster.machines.values()):
            return False
        for place, replicas in self.partitions():
            state = self.state(place)
            if state is None or state.leader not in replicas or set(state.isr) != set(replicas):
                return False
        return True

    @property
    def controller(self) -> Machine | None:
        for machine in self._cluster.machines.values():
            if machine.life is not None and machine.life.node.controller.is_active:
                return machine
        return None

    def ahead(self, topic_prefix: str = "") -> Machine | None:
        """One that leads, and has written what not all in-sync replicas have, as far as it knows."""
        for machine in self._cluster.serving:
            replicas = () if machine.life is None else machine.life.node.replicas
            if any(_is_ahead(one) for one in replicas if one.topic.startswith(topic_prefix)):
                return machine
        return None

    def stable_offsets(self, places: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """How far consumers can read, as the leaders know."""
        ends = {}
        for place in places:
            state = self.state(place)
            machine = None if state is None else self._cluster.machines.get(state.leader)
            node = None if machine is None or machine.life is None else machine.life.node
            log = None if node is None else node.logs.logs.get(place)
            ends[place] = -1 if log is None else log.last_stable_offset
        return ends

    # --- at the end ----------------------------------------------------------------------------------------

    def write_down(self) -> None:
        for place, replicas in self.partitions():
            state = self.state(place)
            leader, isr = (-1, ()) if state is None else (state.leader, state.isr)
            topic = self._topic(place.topic)
            moving = topic.moving[place.partition] if topic is not None else ()
            self._world.history.add(StateFound(place, leader, isr, replicas, moving))
        for machine in self._cluster.machines.values():
            self._world.history.add(DirectoriesFound(machine.broker_id, _directories(machine)))
            self.write_down_logs(machine, final=True)

    def write_down_logs(self, machine: Machine, *, final: bool) -> None:
        if machine.life is None:
            return
        for place, log in sorted(machine.life.node.logs.logs.items()):
            topic_id = (log.topic_id or b"").hex()
            found = LogFound(
                machine.broker_id, place, topic_id, log.high_watermark, tuple(_batches(log)), final
            )
            self._world.history.add(found)


def _is_ahead(partition: Partition) -> bool:
    log, leading = partition.log, partition.leading
    return (
        log is not None
        and leading is not None
        and any(
            follower.log_end_offset < log.log_end_offset
            for broker_id, follower in leading.followers.items()
            if broker_id in leading.in_sync.isr
        )
    )


def _place_of(path: str) -> TopicPartition | None:
    if not (path.startswith(f"{tree.TOPICS}/") and path.endswith("/state")):
        return None
    topic, _, index, _ = path.removeprefix(f"{tree.TOPICS}/").split("/")
    return TopicPartition(topic, int(index))


def _directories(machine: Machine) -> tuple[TopicPartition, ...]:
    names = [parse_directory(name) for path in machine.settings.log_dirs for name in machine.disk.list(path)]
    return tuple(name.topic_partition for name in names if isinstance(name, PartitionDirectory))


def _batches(log: Log) -> Iterator[BatchFound]:
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        try:
            piece = log.read(offset, _EVERYTHING, upper_offset=log.log_end_offset).slice
            data = piece.file.read(piece.position, piece.size) if piece is not None else b""
        except (ApiError, OSError, PowerLostError):
            return  # a disk that fails has nothing to show
        if not data:
            return
        for batch in _batches_in(data):
            yield batch
            offset = batch.next_offset


def _batches_in(data: bytes) -> Iterator[BatchFound]:
    position = 0
    while len(data) - position >= HEADER_SIZE:
        header = read_header(data, position)
        whole = data[position : position + header.size]
        yield BatchFound(header.base_offset, header.next_offset, header.leader_epoch, zlib.crc32(whole))
        position += header.size
