"""ElectLeaders v0–v2 (KIP-183, KIP-460): preferred and unclean elections that an administrator asks for.

No list of partitions stands for all of them. The answer leaves once the new leaders are in the image.
"""

from __future__ import annotations

from itertools import groupby
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
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: ElectLeadersRequest) -> ElectLeadersResponse | None:
    wanted = None
    if request.topic_partitions is not None:
        wanted = [
            TopicPartition(row.topic, one) for row in request.topic_partitions for one in row.partitions
        ]
    try:
        kind = ElectionType(request.election_type)
    except ValueError:
        message = f"Unknown election type {request.election_type}"
        refused = [ElectionResult(place, ErrorCode.INVALID_REQUEST, message) for place in wanted or ()]
        return ElectLeadersResponse(
            error_code=ErrorCode.INVALID_REQUEST, replica_election_results=_rows(refused)
        )

    def done(results: tuple[ElectionResult, ...], error: StoreError | None) -> None:
        context.reply(_answer(results, error))

    node.controller.decide(
        lambda image: elect_leaders(image, kind, wanted, election_rules(node.settings, image)), done
    )
    return None


def _answer(results: tuple[ElectionResult, ...], error: StoreError | None) -> ElectLeadersResponse:
    if error is None:
        return ElectLeadersResponse(replica_election_results=_rows(results))
    code = code_of(error)
    failed = [ElectionResult(result.partition, result.error or code) for result in results]
    return ElectLeadersResponse(error_code=code, replica_election_results=_rows(failed))


def _rows(results: list[ElectionResult] | tuple[ElectionResult, ...]) -> list[ReplicaElectionResult]:
    return [
        ReplicaElectionResult(
            topic,
            [PartitionResult(one.partition.partition, one.error, one.message) for one in of_topic],
        )
        for topic, of_topic in groupby(results, lambda result: result.partition.topic)
    ]
