"""UnregisterBroker v0 (KIP-631): forget a broker.

A registration here is a node of the broker's session, so one that is gone for good is forgotten already. One
that runs is put out of the cluster and, unlike Kafka's, registers again by itself
(docs/decisions/0024-an-unregistered-broker-registers-again.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.cluster.controller_host import code_of
from barnabas.broker.dispatch import Context
from barnabas.broker.topic_config import election_rules
from barnabas.controller.roll_call import unregister
from barnabas.model.errors import ErrorCode
from barnabas.ports import StoreError
from barnabas.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: UnregisterBrokerRequest) -> None:
    broker_id = request.broker_id

    def done(unregistered: tuple[int, ...], error: StoreError | None) -> None:
        if error is not None:
            context.reply(UnregisterBrokerResponse(0, code_of(error)))
        elif unregistered:
            context.reply(UnregisterBrokerResponse(0, ErrorCode.NONE))
        else:
            message = f"Broker ID {broker_id} is not currently registered"
            context.reply(UnregisterBrokerResponse(0, ErrorCode.BROKER_ID_NOT_REGISTERED, message))

    node.controller.decide(
        lambda image: unregister(image, broker_id, election_rules(node.settings, image)), done
    )
