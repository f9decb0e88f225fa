"""What the handlers of groups share: who asks, and how many answers become one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from barnabas.broker.dispatch import Context
from barnabas.groups.group import Caller
from barnabas.model.errors import ErrorCode

R = TypeVar("R")


def caller_of(context: Context) -> Caller:
    return Caller(context.client_id or "", "/" + context.session.peer, context.version)


class Gathering(Generic[R]):
    """Answers to parts of a request, in the order of the parts; `done` gets them when the last one is in."""

    def __init__(self, parts: int, done: Callable[[Sequence[R]], None]) -> None:
        self._answers: dict[int, R] = {}
        self._parts = parts
        self._done = done

    def put(self, part: int, answer: R) -> None:
        self._answers[part] = answer
        if len(self._answers) == self._parts:
            self._done([self._answers[index] for index in range(self._parts)])

    def ticket(self, part: int, refusal: Callable[[ErrorCode], R]) -> Part[R]:
        return Part(self, part, refusal)


class Part(Generic[R]):
    """The ticket of one part."""

    __slots__ = ("_gathering", "_part", "_refusal")

    def __init__(self, gathering: Gathering[R], part: int, refusal: Callable[[ErrorCode], R]) -> None:
        self._gathering = gathering
        self._part = part
        self._refusal = refusal

    def answer(self, response: R) -> None:
        self._gathering.put(self._part, response)

    def refuse(self, code: ErrorCode) -> None:
        self._gathering.put(self._part, self._refusal(code))
