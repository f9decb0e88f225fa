"""A metadata store for whoever has no loop: one question at a time, waited for."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from barnabas.ports import Answer, Completed, MetadataStore, Read, StoreLostError, Write

_ANSWER_TIMEOUT_SECONDS = 30


class Asking:
    """Starts the store, and closes it at the end of a `with` block."""

    def __init__(self, store: MetadataStore) -> None:
        self._store = store
        self._signal = threading.Event()

    def __enter__(self) -> Asking:
        self._store.start(self._signal.set)
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def ask(self, operations: Sequence[Read] | Sequence[Write]) -> tuple[Answer, ...]:
        """StoreError if it was refused; StoreLostError if nobody answered in time."""
        ticket = self._store.submit(operations)
        while True:
            self._signal.clear()
            for event in self._store.events():
                if isinstance(event, Completed) and event.ticket == ticket:
                    if event.error is not None:
                        raise event.error
                    return event.answers
            if not self._signal.wait(_ANSWER_TIMEOUT_SECONDS):
                raise StoreLostError()
