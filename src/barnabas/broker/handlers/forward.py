"""Forward v0: a client's request, passed on by the broker it was sent to. Private to brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.broker.session import Part, PeerFaultError, Session
from barnabas.model.errors import ErrorCode
from barnabas.protocol.codec import MalformedError, read_header
from barnabas.protocol.private import ForwardRequest, ForwardResponse
from barnabas.protocol.served import FOR_THE_CONTROLLER

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: ForwardRequest) -> ForwardResponse | None:
    if not node.controller.is_active:
        return ForwardResponse(ErrorCode.NOT_CONTROLLER)
    try:
        is_for_us = read_header(request.request)[0].api_key in FOR_THE_CONTROLLER
    except MalformedError as error:
        raise PeerFaultError(f"What is forwarded is no request: {error}") from None
    if not is_for_us:
        raise PeerFaultError("Only what the controller alone can answer is forwarded")

    def heard(parts: list[Part]) -> None:
        response = b"".join(part for part in parts if isinstance(part, bytes))[4:]
        image = node.image
        context.reply(ForwardResponse(0, image.controller_epoch, image.version, response))

    session = Session(request.listener, request.host, heard)
    session.forwarded = True
    parts = node.handle(session, memoryview(bytearray(request.request)))
    if parts is not None:
        heard(parts)
    return None
