from __future__ import annotations

from tests.support.node import SmallNode

from barnabas.broker.dispatch import Context, Reply
from barnabas.broker.node import Node
from barnabas.protocol.codec import RequestHeader
from barnabas.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.protocol.schema import Message

HEADER = RequestHeader(12, 4, 7, "client")


def test_a_reply_that_comes_while_the_request_is_handled_is_returned_not_delivered() -> None:
    small = SmallNode()
    session, delivered = small.session()
    context = Context(session, HEADER)

    def at_once(_node: Node, context: Context, _message: Message) -> Reply:
        context.reply(HeartbeatResponse())
        return None

    assert context.handled_by(at_once, small.node, HeartbeatRequest()) == [context.frame(HeartbeatResponse())]
    assert delivered == []


def test_one_that_comes_later_is_delivered() -> None:
    small = SmallNode()
    session, delivered = small.session()
    context = Context(session, HEADER)

    def later(_node: Node, _context: Context, _message: Message) -> Reply:
        return None

    assert context.handled_by(later, small.node, HeartbeatRequest()) is None
    context.reply(HeartbeatResponse())
    assert delivered == [context.frame(HeartbeatResponse())]
