"""Requests that only the controller can answer, asked of another broker: it asks for its client (KIP-590).

The answer goes out once this broker's own image shows what it tells of, so that a client that asks on finds
what it just made. Where the office is empty for long, the client hears NOT_CONTROLLER and asks again itself.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.broker.session import Part, Session
from barnabas.model.errors import ErrorCode
from barnabas.protocol import codec
from barnabas.protocol.codec import RequestHeader
from barnabas.protocol.private import VERSION, ForwardRequest, ForwardResponse
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.dispatch import Context
    from barnabas.broker.node import Node

_LENGTH = struct.Struct(">i")
_PATIENCE_MS = 15_000
_RETRY_MS = 50
_IMAGE_PATIENCE_MS = 1_000


class Forwarding:
    """One request on its way. `at_last` answers it here, where nobody else could."""

    def __init__(
        self, node: Node, session: Session, frame: bytes, at_last: Callable[[], list[Part] | None]
    ) -> None:
        self._node = node
        self._session = session
        self._request = ForwardRequest(session.listener, session.peer, frame)
        self._at_last = at_last
        self._deadline_ms = node.now_ms + _PATIENCE_MS

    def begin(self) -> None:
        node = self._node
        if self._session.closed:
            return
        if node.now_ms >= self._deadline_ms or node.controller.is_active:
            parts = self._at_last()
            if parts is not None:
                self._session.send(parts)
            return
        timeout_ms = self._deadline_ms - node.now_ms
        node.controller_link.ask(self._request, VERSION, self._answered, self._again, timeout_ms)

    def _again(self) -> None:
        self._node.timers.at(self._node.now_ms + _RETRY_MS, self.begin)

    def _answered(self, answer: Message) -> None:
        assert isinstance(answer, ForwardResponse)
        if answer.error_code != ErrorCode.NONE:
            self._again()
            return
        parts: list[Part] = [_LENGTH.pack(len(answer.response)) + answer.response]
        self._node.when_image(
            answer.controller_epoch, answer.version, _IMAGE_PATIENCE_MS, lambda: self._session.send(parts)
        )


def forward_part(
    node: Node,
    context: Context,
    request: Message,
    answered: Callable[[Message], None],
    at_last: Callable[[], list[Part] | None],
) -> None:
    """A part of a client's request, which its handler has taken apart; `at_last` as above."""
    key, version = context.api_key, context.version

    def heard(parts: list[Part]) -> None:
        whole = b"".join(part for part in parts if isinstance(part, bytes))
        answered(codec.read_response(key, version, memoryview(whole)[4:])[1])

    session = Session(context.session.listener, context.session.peer, heard)
    header = RequestHeader(key, version, context.correlation_id, context.client_id)
    Forwarding(node, session, codec.write_request(header, request), at_last).begin()
