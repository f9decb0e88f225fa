"""Clients that do one thing after the other: a script says what it asks and how long it rests.

A script is a generator. It yields a `Step` and gets the answer; when the connection breaks before the answer
came, `LostError` is raised where it waits: whether the broker did what was asked, nobody knows.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from barnabas.protocol.schema import Message
from barnabas.sim.clients import Client
from barnabas.sim.network import Door
from barnabas.sim.world import World

T = TypeVar("T")
M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class Ask:
    request: Message
    version: int


@dataclass(frozen=True, slots=True)
class Rest:
    delay_ms: int


Step: TypeAlias = Ask | Rest
Script: TypeAlias = Generator[Step, "Message | None", T]


class LostError(Exception):
    """The answer will not come. The request may have arrived, or may arrive yet."""


def ask(kind: type[M], request: Message, version: int) -> Script[M]:
    answer = yield Ask(request, version)
    assert isinstance(answer, kind)
    return answer


def insist(kind: type[M], request: Message, version: int) -> Script[M]:
    """Ask until there is an answer: for what may be done twice."""
    while True:
        try:
            return (yield from ask(kind, request, version))
        except LostError:
            continue


def rest(delay_ms: int) -> Script[None]:
    yield Rest(delay_ms)


class Actor(Client):
    """Plays a script, on however many connections it takes."""

    def __init__(self, world: World, host: Door, name: str) -> None:
        super().__init__(world, host, name)
        self._script: Script[None] | None = None
        self._unsaid: Ask | None = None  # waits for a connection
        self._asked_number = 0  # answers to earlier questions come too late
        self._awaits_answer = False
        self._frozen_until_ms = 0

    @abc.abstractmethod
    def script(self) -> Script[None]: ...

    def freeze(self, duration_ms: int) -> None:
        """Long garbage collection, a laptop's lid: it notices nothing, and goes on as if nothing had been."""
        self._frozen_until_ms = max(self._frozen_until_ms, self.world.now_ms + duration_ms)

    @property
    def is_frozen(self) -> bool:
        return self.world.now_ms < self._frozen_until_ms

    def connected(self) -> None:
        if self._script is None:
            self._script = script = self.script()
            self._go_on(lambda: next(script))
        elif self._unsaid is not None:
            step, self._unsaid = self._unsaid, None
            self._ask(step)

    def lost(self) -> None:
        if self._awaits_answer and self._script is not None:
            self._awaits_answer = False
            script = self._script
            self._go_on(lambda: script.throw(LostError()))

    def _ask(self, step: Ask) -> None:
        self._asked_number += 1
        number = self._asked_number
        self._awaits_answer = True
        self.ask(step.request, step.version, lambda answer: self._answered(number, answer))

    def _answered(self, number: int, answer: Message) -> None:
        if number == self._asked_number and self._awaits_answer and self._script is not None:
            self._awaits_answer = False
            script = self._script
            self._go_on(lambda: script.send(answer))

    def _go_on(self, move: Callable[[], Step]) -> None:
        if self.finished:
            return
        if self.is_frozen:
            self.world.after(self._frozen_until_ms - self.world.now_ms, lambda: self._go_on(move))
            return
        try:
            step = move()
        except StopIteration:
            self.finish()
            return
        if isinstance(step, Rest):
            script = self._script
            assert script is not None
            self.world.after(step.delay_ms, lambda: self._go_on(lambda: script.send(None)))
        elif self.is_connected:
            self._ask(step)
        else:
            self._unsaid = step
