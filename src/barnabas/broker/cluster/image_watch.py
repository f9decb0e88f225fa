"""Who waits until this broker's image is as new as something it was told of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from barnabas.broker.timers import Timer

if TYPE_CHECKING:
    from barnabas.broker.node import Node


class _Waiting(NamedTuple):
    wanted: tuple[int, int]  # controller epoch and version
    timer: Timer
    action: Callable[[], None]


class ImageWatch:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._waiting: list[_Waiting] = []

    def wait(self, epoch: int, version: int, patience_ms: int, action: Callable[[], None]) -> None:
        if self._reached((epoch, version)):
            action()
            return
        timer = self._node.timers.at(self._node.now_ms + patience_ms, lambda: self._impatient(waiting))
        waiting = _Waiting((epoch, version), timer, action)
        self._waiting.append(waiting)

    def installed(self) -> None:
        if not self._waiting:
            return
        ready = [waiting for waiting in self._waiting if self._reached(waiting.wanted)]
        self._waiting = [waiting for waiting in self._waiting if waiting not in ready]
        for waiting in ready:
            self._node.timers.cancel(waiting.timer)
            waiting.action()

    def _impatient(self, waiting: _Waiting) -> None:
        self._waiting.remove(waiting)
        waiting.action()

    def _reached(self, wanted: tuple[int, int]) -> bool:
        image = self._node.image
        return (image.controller_epoch, image.version) >= wanted
