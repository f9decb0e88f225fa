"""DescribeCluster v0–v2 (KIP-700, KIP-919, KIP-1073): the brokers, the controller, the cluster's id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker import operations
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_BROKERS, _CONTROLLERS = 1, 2


def handle(node: Node, context: Context, request: DescribeClusterRequest) -> DescribeClusterResponse:
    if request.endpoint_type == _CONTROLLERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="The request was sent to an endpoint of type BROKER, but we wanted an endpoint of "
            "type CONTROLLER",
        )
    if request.endpoint_type != _BROKERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            error_message=f"Unsupported endpoint type {request.endpoint_type}",
        )
    image = node.image
    brokers = sorted(image.brokers.values(), key=lambda broker: broker.id)
    response = DescribeClusterResponse(
        endpoint_type=_BROKERS,
        cluster_id=image.cluster_id,
        controller_id=node.controller_link.controller_id_for_clients,
        brokers=[
            DescribeClusterBroker(broker.id, endpoint.host, endpoint.port, broker.rack, broker.fenced)
            for broker in brokers
            if request.include_fenced_brokers or not broker.fenced
            if (endpoint := broker.endpoint(context.session.listener)) is not None
        ],
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = operations.CLUSTER
    return response
