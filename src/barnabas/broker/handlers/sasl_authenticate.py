"""SaslAuthenticate v0–v2 (KIP-152) on a listener without SASL: too late, as Kafka has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_MESSAGE = "SaslAuthenticate request received after successful authentication"


def handle(_node: Node, _context: Context, _request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(ErrorCode.ILLEGAL_SASL_STATE, _MESSAGE)
