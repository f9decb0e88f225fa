"""Where the controller's decisions become true: decide on the image, write to the store, publish, answer.

One decision at a time: the next one must see the image that the last one left. Those who ask meanwhile stand
in line; the line is as long as there are connections at most.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from barnabas.broker.cluster.store_client import StoreClient
from barnabas.controller.decision import Decision
from barnabas.model.errors import ErrorCode
from barnabas.model.image import ClusterImage, Delta
from barnabas.ports import Completed, StoreError, StoreLostError

log = logging.getLogger("kafka.controller.KafkaController")

R = TypeVar("R")


class NotControllerError(StoreError):
    """Another broker holds the office, or nobody does: nothing was written."""


def code_of(error: StoreError) -> ErrorCode:
    """What a client hears when a decision did not become true."""
    if isinstance(error, NotControllerError):
        return ErrorCode.NOT_CONTROLLER
    if isinstance(error, StoreLostError):
        return ErrorCode.REQUEST_TIMED_OUT  # it may have happened: clients look and ask again
    return ErrorCode.UNKNOWN_SERVER_ERROR


class ControllerHost:
    def __init__(
        self,
        store: StoreClient,
        image: Callable[[], ClusterImage],
        publish: Callable[[tuple[Delta, ...]], None],
    ) -> None:
        self._store = store
        self._image = image
        self._publish = publish
        self._line: deque[tuple[Callable[[ClusterImage], Decision[Any]], Callable[..., None]]] = deque()
        self._busy = False
        self._paused = False
        self._term = 0
        self.on_lost: Callable[[], None] = lambda: None
        self.is_active = False  # whether this broker holds the office
        self.has_decided = False  # whether it ever did, in this life

    def pause(self) -> None:
        """What the tree holds is not known: those who ask wait."""
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        self._next()

    def resign(self) -> None:
        """Another broker decides now: whoever stands in line is told."""
        self.is_active = False
        self._term += 1
        self.resume()

    def decide(
        self,
        decision: Callable[[ClusterImage], Decision[R]],
        done: Callable[[tuple[R, ...], StoreError | None], None],
    ) -> None:
        """`done` gets the results once they are true; with an error, none of them is."""
        self._line.append((decision, done))
        self._next()

    def _next(self) -> None:
        while self._line and not self._busy and not self._paused:
            decision, done = self._line.popleft()
            made = decision(self._image())
            parts = deque(made.multis())
            if parts and not self.is_active:
                done(made.results, NotControllerError())
            elif parts:
                self._busy = True
                self._write(made, parts, done)
            else:
                done(made.results, None)

    def _write(self, made: Decision[Any], parts: deque[Any], done: Callable[..., None]) -> None:
        term = self._term

        def written(completed: Completed) -> None:
            if completed.error is None and parts:
                self._write(made, parts, done)
                return
            self._busy = False
            if completed.error is not None:
                log.error("The metadata store refused a change: %s", completed.error)
                self.on_lost()
            elif term == self._term:  # otherwise whoever holds the office now has read it from the store
                self._publish(made.deltas)
            done(made.results, completed.error)
            self._next()

        self._store.submit(parts.popleft(), written)
