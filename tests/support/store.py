"""A metadata store in a test: waits for answers, and keeps every event in order."""

from __future__ import annotations

import threading
from collections.abc import Callable

from barnabas.ports import (
    Answer,
    Changed,
    ChildNames,
    Children,
    Completed,
    Get,
    MetadataStore,
    Read,
    SessionBegan,
    SessionEnded,
    StoreError,
    StoreEvent,
    Value,
    Write,
)

WAIT_SECONDS = 60


class Harness:
    def __init__(self, store: MetadataStore) -> None:
        self.store = store
        self.seen: list[StoreEvent] = []
        self._signal = threading.Event()
        store.start(self._signal.set)

    def drain(self) -> None:
        self._signal.clear()
        self.seen.extend(self.store.events())

    def completed(self, ticket: int) -> Completed:
        while True:
            self.drain()
            for event in self.seen:
                if isinstance(event, Completed) and event.ticket == ticket:
                    return event
            assert self._signal.wait(WAIT_SECONDS), f"no answer to ticket {ticket}"

    def run(self, *operations: Read | Write) -> tuple[Answer, ...]:
        completed = self.completed(self.submit(*operations))
        if completed.error is not None:
            raise completed.error
        return completed.answers

    def submit(self, *operations: Read | Write) -> int:
        return self.store.submit(operations)  # type: ignore[arg-type]

    def value(self, path: str, *, watch: bool = False) -> Value | None:
        (answer,) = self.run(Get(path, watch))
        assert answer is None or isinstance(answer, Value)
        return answer

    def data(self, path: str) -> bytes | None:
        value = self.value(path)
        return None if value is None else value.data

    def names(self, path: str) -> tuple[str, ...]:
        (answer,) = self.run(Children(path))
        assert isinstance(answer, ChildNames)
        return answer.names

    def changes(self) -> list[str]:
        self.drain()
        return [event.path for event in self.seen if isinstance(event, Changed)]

    @property
    def session_id(self) -> int:
        self.drain()
        return next(event.session_id for event in self.seen if isinstance(event, SessionBegan))

    def wait_for(self, what: str, condition: Callable[[list[StoreEvent]], bool]) -> None:
        while True:
            self.drain()
            if condition(self.seen):
                return
            assert self._signal.wait(WAIT_SECONDS), f"never: {what}"

    def wait_for_new_session(self) -> None:
        """Until a session has ended and the next has begun."""

        def began_again(seen: list[StoreEvent]) -> bool:
            ends = [at for at, event in enumerate(seen) if isinstance(event, SessionEnded)]
            return bool(ends) and any(isinstance(event, SessionBegan) for event in seen[ends[-1] :])

        self.wait_for("a new session", began_again)

    def error(self, *operations: Read | Write) -> StoreError | None:
        return self.completed(self.submit(*operations)).error
