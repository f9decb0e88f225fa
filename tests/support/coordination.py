"""A host for one shard in memory: append, replay, answer; time moves when a test says so."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from barnabas.coordination.outcome import Entry, Outcome, Producer, Shard
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import ClusterImage
from barnabas.model.settings.broker import BrokerSettings


class FakeTicket:
    """Remembers its one answer."""

    def __init__(self) -> None:
        self.response: Any = None
        self.code: ErrorCode | None = None

    @property
    def done(self) -> bool:
        return self.response is not None or self.code is not None

    def answer(self, response: Any) -> None:
        assert not self.done, "answered twice"
        self.response = response

    def refuse(self, code: ErrorCode) -> None:
        assert not self.done, "answered twice"
        self.code = code


class FakeTimers:
    def __init__(self, host: FakeShardHost) -> None:
        self._host = host
        self._due: dict[Hashable, tuple[int, Callable[[], Outcome]]] = {}

    def schedule(self, key: Hashable, delay_ms: int, operation: Callable[[], Outcome]) -> None:
        self._due[key] = (self._host.now_ms + delay_ms, operation)

    def cancel(self, key: Hashable) -> None:
        self._due.pop(key, None)

    def is_scheduled(self, key: Hashable) -> bool:
        return key in self._due

    def __len__(self) -> int:
        return len(self._due)

    def next(self, until_ms: int) -> tuple[int, Callable[[], Outcome]] | None:
        key = min(self._due, key=lambda key: self._due[key][0], default=None)
        if key is None or self._due[key][0] > until_ms:
            return None
        return self._due.pop(key)


class FakeShardHost:
    """`log` is what was appended; `refuse_next` makes the next append fail with that code."""

    def __init__(self, settings: dict[str, str] | None = None, image: ClusterImage | None = None) -> None:
        self.broker_id = 1
        self.now_ms = 1_000
        self.wall_ms = 1_700_000_000_000
        self.image = image or ClusterImage()
        self.settings = BrokerSettings.parse({"log.dirs": "/logs", **(settings or {})})[0]
        self.timers = FakeTimers(self)
        self.log: list[tuple[Entry, Producer | None]] = []
        self.refuse_next: ErrorCode | None = None
        self.shard: Shard | None = None
        self._random = 0

    def random_bytes(self, count: int) -> bytes:
        self._random += 1
        return self._random.to_bytes(count, "big")

    def run(self, operation: Callable[[], Outcome]) -> None:
        self.apply(operation())

    def ask(self, operation: Callable[[FakeTicket], Outcome]) -> FakeTicket:
        """Run a request's operation as the broker does: an ApiError refuses the ticket."""
        ticket = FakeTicket()
        try:
            outcome = operation(ticket)
        except ApiError as error:
            ticket.refuse(error.code)
        else:
            self.apply(outcome)
        return ticket

    def apply(self, outcome: Outcome) -> None:
        assert self.shard is not None
        if outcome.entries and self.refuse_next is not None:
            code, self.refuse_next = self.refuse_next, None
            if outcome.refused is not None:
                self.apply(outcome.refused(code))
            else:
                for ticket, _ in outcome.answers:
                    ticket.refuse(code)
            return
        for entry in outcome.entries:
            if outcome.replays:
                self.shard.replay(entry, len(self.log), outcome.producer)
            self.log.append((entry, outcome.producer))
        for ticket, response in outcome.answers:
            ticket.answer(response)
        if outcome.committed is not None:
            outcome.committed()

    def pass_ms(self, duration_ms: int) -> None:
        end_ms = self.now_ms + duration_ms
        while (due := self.timers.next(end_ms)) is not None:
            self._move_to(max(self.now_ms, due[0]))
            self.apply(due[1]())
        self._move_to(end_ms)

    def _move_to(self, now_ms: int) -> None:
        self.wall_ms += now_ms - self.now_ms
        self.now_ms = now_ms

    def reload(self, shard: Shard) -> None:
        """A crash and a restart: everything but the log is gone."""
        self.timers = FakeTimers(self)
        self.shard = shard
        for offset, (entry, producer) in enumerate(self.log):
            shard.replay(entry, offset, producer)
        for outcome in shard.loaded():
            self.apply(outcome)
