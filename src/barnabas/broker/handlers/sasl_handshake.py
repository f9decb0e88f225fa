"""SaslHandshake v0–v1 (KIP-43, KIP-152) on a listener without SASL: there is nothing to begin.

Some clients begin with it although nobody asked them to: they learn why it does not work, and the
connection stays open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(_node: Node, _context: Context, _request: SaslHandshakeRequest) -> SaslHandshakeResponse:
    return SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE)
