"""From a frame to its handler: parse the header, decode, route by API key, encode the reply.

The peer's fault ends here: bytes that are no request close the connection, as in Kafka.
"""

from __future__ import annotations

import importlib
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from barnabas.broker.cluster.forwarding import Forwarding
from barnabas.broker.session import NotThisTimeError, Part, PeerFaultError, Session
from barnabas.protocol import codec
from barnabas.protocol.codec import MalformedError
from barnabas.protocol.schema import Message
from barnabas.protocol.served import (
    AMONG_BROKERS,
    API_VERSIONS,
    FOR_THE_CONTROLLER,
    PARTLY_HERE,
    PRODUCE,
    SERVED,
    Served,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_LENGTH = struct.Struct(">i")
_FORWARDED = FOR_THE_CONTROLLER - PARTLY_HERE

# A message to encode; finished parts; [] for no reply; None for "later, through Context.reply".
Reply: TypeAlias = Message | list[Part] | None
Handler: TypeAlias = Callable[["Node", "Context", Message], Reply]

# Only records make a request large. A tiny element costs its memory many times over once decoded, so what
# holds no records is bounded well below socket.request.max.bytes.
RECORDLESS_MAX_BYTES = 16 << 20


class Context:
    """One request: who asked, how to answer."""

    __slots__ = ("_at_once", "_is_handled", "api_key", "client_id", "correlation_id", "session", "version")

    def __init__(self, session: Session, header: codec.RequestHeader) -> None:
        self.session = session
        self.api_key, self.version, self.correlation_id, self.client_id = header
        self._is_handled = True
        self._at_once: list[Part] | None = None

    def frame(self, message: Message) -> bytes:
        body = codec.encode(message, self.version)
        head = codec.response_head(self.api_key, self.version, self.correlation_id)
        return _LENGTH.pack(len(head) + len(body)) + head + body

    def reply(self, message: Message) -> None:
        """Answer a request whose handler returned None, or is about to."""
        if self._is_handled:
            self.session.send([self.frame(message)])
        else:
            self._at_once = [self.frame(message)]

    def handled_by(self, handler: Handler, node: Node, message: Message) -> list[Part] | None:
        """The reply, if it came while the request was being handled: it need not be delivered then."""
        self._is_handled = False
        reply = handler(node, self, message)
        self._is_handled = True
        if reply is None:
            return self._at_once
        return [self.frame(reply)] if isinstance(reply, Message) else reply


class Dispatcher:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._handlers: dict[int, Handler] = {}

    def handle(self, session: Session, frame: memoryview) -> list[Part] | None:
        if session.template is not None:
            try:
                return session.template.handle(session, frame)
            except NotThisTimeError:
                pass  # kept: a heartbeat between two fetches does not end the habit
        try:
            header, position = codec.read_header(frame)
            served = self._check(session, header, len(frame))
            if served is None:
                return [self._unsupported_api_versions(session, header)]
            message = codec.decode(codec.request_class(served.key), header.version, frame, position)
        except MalformedError as error:
            raise PeerFaultError(str(error)) from None
        context = Context(session, header)
        session.client_id = header.client_id
        if served.key in _FORWARDED and not self._node.controller.is_active:
            Forwarding(
                self._node, session, bytes(frame), lambda: self._answer(served, context, message)
            ).begin()
            return None
        return self._answer(served, context, message)

    def _answer(self, served: Served, context: Context, message: Message) -> list[Part] | None:
        handler = self._handlers.get(served.key) or self._load(served)
        return context.handled_by(handler, self._node, message)

    def _check(self, session: Session, header: codec.RequestHeader, size: int) -> Served | None:
        """The row that serves this request; None for an ApiVersions version we do not know."""
        served = SERVED.get(header.api_key)
        if served is None and session.listener == self._node.settings.inter_broker_listener:
            served = AMONG_BROKERS.get(header.api_key)
        if served is None:
            raise PeerFaultError(f"Received request api key {header.api_key} which is not enabled")
        if not served.oldest <= header.version <= served.newest:
            if served.key == API_VERSIONS:
                return None
            raise PeerFaultError(
                f"Received request for api with key {served.key} ({served.name}) and unsupported version "
                f"{header.version}"
            )
        if served.key != PRODUCE and size > RECORDLESS_MAX_BYTES:
            raise PeerFaultError(f"{served.name} of {size} bytes (more than {RECORDLESS_MAX_BYTES})")
        return served

    def _unsupported_api_versions(self, session: Session, header: codec.RequestHeader) -> bytes:
        """KIP-511: whatever version was asked, answer in version 0, so that the client can ask again."""
        from barnabas.broker.handlers import api_versions

        context = Context(session, header._replace(version=0))
        return context.frame(api_versions.unsupported())

    def _load(self, served: Served) -> Handler:
        module = importlib.import_module(f"barnabas.broker.handlers.{served.module}")
        handler: Handler = module.handle
        self._handlers[served.key] = handler
        return handler
