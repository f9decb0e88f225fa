"""Runs what the logs owe over time: decisions on the loop, slow chores on workers, failures noticed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from barnabas.log.chores import Chore
from barnabas.log.log import Log

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.log.LogManager")

_LONGEST_WAIT_MS = 1000


class UpkeepHost:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._offline: set[str] = set()

    def start(self) -> None:
        self._tick()

    def _tick(self) -> None:
        node = self._node
        for chore in node.logs.upkeep.tick(node.wall_ms):
            self.run(chore)
        self.notice_failures()
        for place in node.logs.upkeep.take_shortened():
            partition = node.replicas.find(*place)
            if partition is not None:
                partition.start_has_moved()
        due_ms = node.logs.upkeep.next_tick_ms(node.wall_ms) - node.wall_ms
        node.timers.at(node.now_ms + min(max(due_ms, 10), _LONGEST_WAIT_MS), self._tick)

    def run(self, chore: Chore) -> None:
        def finished(_result: object, error: BaseException | None) -> None:
            self._node.logs.upkeep.finish(chore, error, self._node.wall_ms)
            self.notice_failures()

        self._node.workers.submit(chore.run, finished)

    def may_cut(self, cut: Log, offset: int) -> bool:
        """Whether what the log has behind the offset may be replaced now. Where a checkpoint still vouches
        for it, that one is lowered first; who asks again later may."""
        logs, place = self._node.logs, cut.topic_partition
        directory = logs.find_directory(cut.directory.rpartition("/")[0])
        if directory is None or directory.points_on_disk.get(place, 0) <= offset:
            return True
        chore = logs.upkeep.lower_recovery_point(directory, place, offset)
        if chore is not None:
            self.run(chore)
        return False

    def notice_failures(self) -> None:
        """Whoever met the failing disk, the partitions on it must stop answering as if it worked."""
        node = self._node
        for directory in node.logs.directories:
            if directory.online or directory.path in self._offline:
                continue
            self._offline.add(directory.path)
            log.error("Stopping serving logs in dir %s: %s", directory.path, directory.failure)
            node.replicas.take_offline(directory.path)
        if node.logs.all_offline:
            log.critical("Shutdown broker because all log dirs in %s have failed", sorted(self._offline))
            node.stop(1)
