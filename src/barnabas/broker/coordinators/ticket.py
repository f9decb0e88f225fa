"""A request that a coordinator answers, perhaps much later."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.schema import Message


class RequestTicket:
    """`refusal` makes the response that carries a bare error code."""

    __slots__ = ("_context", "_refusal")

    def __init__(self, context: Context, refusal: Callable[[ErrorCode], Message]) -> None:
        self._context = context
        self._refusal = refusal

    def answer(self, response: Message) -> None:
        self._context.reply(response)

    def refuse(self, code: ErrorCode) -> None:
        self._context.reply(self._refusal(code))


class Later:
    """An answer that goes to code of this broker instead of a connection."""

    __slots__ = ("_answered", "_refused")

    def __init__(self, answered: Callable[[object], None], refused: Callable[[ErrorCode], None]) -> None:
        self._answered = answered
        self._refused = refused

    def answer(self, response: object) -> None:
        self._answered(response)

    def refuse(self, code: ErrorCode) -> None:
        self._refused(code)
