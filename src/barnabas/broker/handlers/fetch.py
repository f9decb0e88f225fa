"""Fetch v4–v18 (KIP-74, KIP-98, KIP-227, KIP-320, KIP-392, KIP-516, KIP-595, KIP-903, KIP-1166).

min/max bytes, max wait with parked fetches, limits per partition and per request, the first batch always
whole however small the limit, incremental sessions, offsets inside a batch, topic ids since v13. Payload
leaves as file slices. Followers fetch to the end of the log, and their fetch says how far they have come;
consumers may be sent to a nearer replica, and served by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context, Reply
from barnabas.broker.fetch_sessions import Entry, FetchSession
from barnabas.broker.fetch_template import FetchTemplate, is_plain
from barnabas.broker.fetching import Fetch
from barnabas.broker.readers import ReplicaReader, reader_of
from barnabas.broker.replication.standing import Standing
from barnabas.model.errors import ApiError
from barnabas.protocol.messages.fetch import FetchRequest, FetchResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_TOPIC_IDS_SINCE = 13


def handle(node: Node, context: Context, request: FetchRequest) -> Reply:
    if is_plain(context, request):
        _offer_template(node, context, request)
    return serve(node, context, request)


def _offer_template(node: Node, context: Context, request: FetchRequest) -> None:
    topic = request.topics[0]
    by_id = context.version >= _TOPIC_IDS_SINCE
    name = node.image.topic_names.get(topic.topic_id, "") if by_id else topic.topic
    partition = node.replicas.find(name, topic.partitions[0].partition)
    if partition is not None and partition.log is not None and context.session.repeats(partition):
        context.session.template = FetchTemplate(node, context, request, partition, serve)


def serve(node: Node, context: Context, request: FetchRequest) -> Reply:
    """The general way."""
    by_id = context.version >= _TOPIC_IDS_SINCE
    reader = reader_of(node, context, request)
    try:
        session, incremental = node.fetch_sessions.begin(request, by_id, reader.is_replica, node.now_ms)
    except ApiError as error:
        return FetchResponse(error_code=error.code)
    entries: Iterable[Entry]
    if session is not None and isinstance(reader, ReplicaReader):
        entries = ()
        _stand(session, reader, request)
    elif session is not None:
        entries = list(session.entries())
    else:
        entries = _distinct(
            [(t.topic_id if by_id else t.topic, p) for t in request.topics for p in t.partitions]
        )
    fetch = Fetch(node, context, request, reader, session, incremental, _distinct(list(entries)))
    answers = fetch.read()
    if fetch.enough or request.max_wait_ms <= 0 or not fetch.may_wait:
        return fetch.reply(answers)
    fetch.park()
    return None


def _stand(session: FetchSession, reader: ReplicaReader, request: FetchRequest) -> None:
    if session.standing is None:
        session.standing = Standing(session, reader.broker_id, reader.broker_epoch)
    else:
        session.standing.take(request, reader.broker_epoch)


def _distinct(entries: list[Entry]) -> list[Entry]:
    """Of a partition that is named twice the last counts, in the place of the first."""
    if len(entries) < 2:
        return entries
    return list({(key, asked.partition): (key, asked) for key, asked in entries}.values())
