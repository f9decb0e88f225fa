"""DescribeConfigs v1–v4 (KIP-133, KIP-226 synonyms, KIP-569 types and documentation).

Topics, brokers ('' is the default of the cluster), broker loggers, groups and client metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from barnabas.broker import loggers
from barnabas.broker.dispatch import Context
from barnabas.model.config_numbers import ResourceType
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import broker_id_from_text, topic_name_problem
from barnabas.model.image import ConfigKind
from barnabas.model.settings import resolve
from barnabas.model.settings.resolve import Described
from barnabas.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_KINDS = frozenset(ResourceType)


def handle(node: Node, context: Context, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    if any(resource.resource_type not in _KINDS for resource in request.resources):
        code = ErrorCode.INVALID_REQUEST  # for all of them, as in Kafka
        return DescribeConfigsResponse(
            results=[
                DescribeConfigsResult(code, code.sentence, item.resource_type, item.resource_name)
                for item in request.resources
            ]
        )
    return DescribeConfigsResponse(results=[_one(node, request, resource) for resource in request.resources])


def _one(
    node: Node, request: DescribeConfigsRequest, resource: DescribeConfigsResource
) -> DescribeConfigsResult:
    kind, name = resource.resource_type, resource.resource_name
    try:
        rows: Sequence[Described] = _rows(node, kind, name)
    except ApiError as error:
        unknown = error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION  # which Kafka does not explain
        return DescribeConfigsResult(error.code, "" if unknown else error.message, kind, name)
    wanted = resource.configuration_keys
    # An empty list asks for everything as well: clients of both minds exist.
    shown = rows if not wanted else [row for row in rows if row.name in set(wanted)]
    return DescribeConfigsResult(0, "", kind, name, [_row(request, row) for row in shown])


def _rows(node: Node, kind: int, name: str) -> list[Described]:
    if kind == ResourceType.TOPIC:
        return _topic(node, name)
    if kind == ResourceType.BROKER:
        if name == "":
            return resolve.describe_cluster_defaults(node.settings)
        _check_broker(node, name)
        return resolve.describe_broker(node.settings)
    if kind == ResourceType.BROKER_LOGGER:
        if name == "":
            raise ApiError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
        _check_broker(node, name, "")
        return loggers.describe()
    if kind == ResourceType.GROUP:
        if name == "":
            raise ApiError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
        return resolve.describe_group(node.image.config(ConfigKind.GROUP, name), node.settings)
    if name == "":
        raise ApiError(ErrorCode.INVALID_REQUEST, "Client metrics subscription name must not be empty")
    return resolve.describe_client_metrics(node.image.config(ConfigKind.CLIENT_METRICS, name))


def _topic(node: Node, name: str) -> list[Described]:
    problem = topic_name_problem(name)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")
    if name not in node.image.topics:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return resolve.describe_topic(node.image.config(ConfigKind.TOPIC, name), node.settings)


def _check_broker(node: Node, name: str, otherwise: str = " or empty string,") -> None:
    broker_id = broker_id_from_text(name)
    if broker_id is None:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}"
        ) from None
    if broker_id != node.broker_id:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Unexpected broker id, expected {node.broker_id}{otherwise} but received {name}",
        )


def _row(request: DescribeConfigsRequest, row: Described) -> DescribeConfigsResourceResult:
    synonyms = [DescribeConfigsSynonym(*synonym) for synonym in row.synonyms]
    return DescribeConfigsResourceResult(
        row.name,
        row.value,
        row.read_only,
        row.source,
        row.sensitive,
        synonyms if request.include_synonyms else [],
        row.type_id,
        # A logger's words are none, asked for or not.
        row.documentation if request.include_documentation or not row.documentation else None,
    )
