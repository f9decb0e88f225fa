"""ElectLeaders v0–v2 (KIP-183, KIP-460): preferred and unclean elections that an administrator asks for.

No list of partitions stands for all of them. The answer leaves once the new leaders are in the image.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from barnabas.broker.cluster.controller_host import code_of
from barnabas.broker.dispatch import Context
from barnabas.broker.topic_config import election_rules
from barnabas.controller.leadership import ElectionResult, ElectionType, elect_leaders
from barnabas.model.errors import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.ports import StoreError
from barnabas.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
    TopicPartitions,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: ElectLeadersRequest) -> ElectLeadersResponse | None:
    asked = request.topic_partitions
    if asked is not None and not asked:
        return ElectLeadersResponse()
    if request.timeout_ms <= 0:
        return _refused(request, ErrorCode.REQUEST_TIMED_OUT)  # no time at all is not waited for
    try:
        kind = ElectionType(request.election_type)
    except ValueError:
        message = f"Unknown election type {request.election_type}"
        return _refused(request, ErrorCode.INVALID_REQUEST, message)
    wanted = None
    if asked is not None:
        wanted = [TopicPartition(row.topic, one) for row in asked for one in row.partitions]

    def done(results: tuple[ElectionResult, ...], error: StoreError | None) -> None:
        code = ErrorCode.NONE
        if error is not None:
            code = code_of(error)
            results = tuple(ElectionResult(one.partition, one.error or code) for one in results)
        rows = _of_all(node, results) if asked is None else _as_asked(asked, results)
        context.reply(ElectLeadersResponse(error_code=code, replica_election_results=rows))

    node.controller.decide(
        lambda image: elect_leaders(image, kind, wanted, election_rules(node.settings, image)), done
    )
    return None


def _refused(
    request: ElectLeadersRequest, code: ErrorCode, message: str | None = None
) -> ElectLeadersResponse:
    rows = [
        ReplicaElectionResult(row.topic, [PartitionResult(one, code, message) for one in row.partitions])
        for row in request.topic_partitions or ()
    ]
    return ElectLeadersResponse(error_code=code, replica_election_results=rows)


def _as_asked(
    asked: Sequence[TopicPartitions], results: tuple[ElectionResult, ...]
) -> list[ReplicaElectionResult]:
    rest = iter(results)
    return [ReplicaElectionResult(row.topic, [_row(next(rest)) for _ in row.partitions]) for row in asked]


def _of_all(node: Node, results: tuple[ElectionResult, ...]) -> list[ReplicaElectionResult]:
    """Every topic is told of, also where nothing had to be elected."""
    topics: dict[str, list[PartitionResult]] = {name: [] for name in node.image.sorted_topic_names}
    for one in results:
        topics.setdefault(one.partition.topic, []).append(_row(one))
    return [ReplicaElectionResult(topic, rows) for topic, rows in topics.items()]


def _row(result: ElectionResult) -> PartitionResult:
    return PartitionResult(result.partition.partition, result.error, result.message)
