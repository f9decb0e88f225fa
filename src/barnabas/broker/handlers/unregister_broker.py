"""UnregisterBroker v0 (KIP-631): forget a broker that is gone for good.

A registration here goes with its broker's session, so there is never one to remove: a broker that is gone is
not registered, as Kafka says it, and one that runs would only register again. Kafka 4.3 would remove it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, _context: Context, request: UnregisterBrokerRequest) -> UnregisterBrokerResponse:
    broker_id = request.broker_id
    if broker_id in node.image.brokers:
        message = f"Broker ID {broker_id} is running; its registration goes by itself when it stops"
        return UnregisterBrokerResponse(0, ErrorCode.INVALID_REQUEST, message)
    message = f"Broker ID {broker_id} is not currently registered"
    return UnregisterBrokerResponse(0, ErrorCode.BROKER_ID_NOT_REGISTERED, message)
