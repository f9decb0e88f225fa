"""A member that polls on a thread of its own; whatever else it is asked runs there too, between two polls."""

from __future__ import annotations

import logging
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from tests.support.client import RefusedError
from tests.support.members.face import Committed, Joining, Place, Received

Answer = TypeVar("Answer")
POLL_S = 0.05
ANSWER_TIMEOUT_S = 60.0


class PolledMember(ABC):
    def __init__(self, bootstrap: str, joining: Joining) -> None:
        self._bootstrap = bootstrap
        self._joining = joining
        self._received: list[Received] = []
        self._assignment: frozenset[Place] = frozenset()
        self._error: int | None = None
        self._commands: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def _poll(self) -> list[Received]: ...

    @abstractmethod
    def _assigned(self) -> frozenset[Place]: ...

    @abstractmethod
    def _commit(self, offsets: Mapping[Place, Committed] | None) -> None: ...

    @abstractmethod
    def _committed(self, place: Place) -> Committed | None: ...

    @abstractmethod
    def _seek(self, place: Place, offset: int) -> None: ...

    @abstractmethod
    def _offset_for_time(self, place: Place, timestamp_ms: int) -> int: ...

    @abstractmethod
    def _close(self) -> None: ...

    def _run(self) -> None:
        self._open()
        try:
            while not self._closing.is_set():
                self._answer()
                self._received += self._poll()
                self._assignment = self._assigned()
        except RefusedError as refused:
            self._error = refused.code
            logging.getLogger(__name__).warning("the member was refused: %s", refused)
        finally:
            self._assignment = frozenset()
            self._close()
            self._closing.set()

    def _answer(self) -> None:
        while not self._commands.empty():
            future, work = self._commands.get()
            try:
                future.set_result(work())
            except RefusedError as refused:
                future.set_exception(refused)
            except BaseException as problem:
                # The test that asked shall see it, too.
                future.set_exception(problem)
                raise

    def ask(self, work: Callable[[], Answer]) -> Answer:
        future: Future[Answer] = Future()
        self._commands.put((future, work))
        while not future.done() and self._thread.is_alive():
            wait([future], POLL_S)
        if not future.done():
            raise RefusedError(self._error or -1, "the consumer has ended")
        return future.result()

    def assignment(self) -> frozenset[Place]:
        return self._assignment

    def received(self) -> list[Received]:
        return list(self._received)

    def error(self) -> int | None:
        return self._error

    def commit(self, offsets: Mapping[Place, Committed] | None = None) -> None:
        self.ask(lambda: self._commit(offsets))

    def committed(self, place: Place) -> Committed | None:
        return self.ask(lambda: self._committed(place))

    def seek(self, place: Place, offset: int) -> None:
        self.ask(lambda: self._seek(place, offset))

    def offset_for_time(self, place: Place, timestamp_ms: int) -> int:
        return self.ask(lambda: self._offset_for_time(place, timestamp_ms))

    def close(self) -> None:
        self._closing.set()
        self._thread.join(ANSWER_TIMEOUT_S)
        assert not self._thread.is_alive(), "the consumer does not close"
