"""The node's side of the metadata store: submit and be called back, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from barnabas.ports import (
    Changed,
    Completed,
    MetadataStore,
    Read,
    SessionBegan,
    SessionEnded,
    StoreEvent,
    Write,
)


class StoreClient:
    def __init__(self, store: MetadataStore) -> None:
        self._store = store
        self._waiting: dict[int, Callable[[Completed], None]] = {}
        self.on_session: Callable[[SessionBegan | SessionEnded], None] = lambda _event: None
        self.on_changed: Callable[[Changed], None] = lambda _event: None

    def submit(self, operations: Sequence[Read] | Sequence[Write], done: Callable[[Completed], None]) -> None:
        self._waiting[self._store.submit(operations)] = done

    def poll(self) -> None:
        for event in self._store.events():
            self._dispatch(event)

    def _dispatch(self, event: StoreEvent) -> None:
        match event:
            case Completed(ticket):
                self._waiting.pop(ticket)(event)
            case Changed():
                self.on_changed(event)
            case SessionBegan() | SessionEnded():
                self.on_session(event)

    @property
    def idle(self) -> bool:
        return not self._waiting
