"""ListConfigResources v0–v1 (KIP-1000, KIP-1142): what has, or may have, settings of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.model.image import ClusterImage, ConfigKind
from barnabas.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


_TOPIC, _BROKER, _BROKER_LOGGER, _CLIENT_METRICS, _GROUP = 2, 4, 8, 16, 32


def handle(node: Node, context: Context, request: ListConfigResourcesRequest) -> ListConfigResourcesResponse:
    kinds = list(dict.fromkeys(request.resource_types))
    if context.version == 0:
        kinds = [_CLIENT_METRICS]  # all that version 0 knew
    elif not kinds:
        kinds = [_TOPIC, _BROKER, _BROKER_LOGGER, _CLIENT_METRICS, _GROUP]
    if not set(kinds) <= {_TOPIC, _BROKER, _BROKER_LOGGER, _CLIENT_METRICS, _GROUP}:
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    return ListConfigResourcesResponse(
        config_resources=[ConfigResource(name, kind) for kind in kinds for name in _names(node.image, kind)]
    )


def _names(image: ClusterImage, kind: int) -> list[str]:
    if kind == _TOPIC:
        return list(image.sorted_topic_names)
    if kind in {_BROKER, _BROKER_LOGGER}:
        return [str(broker) for broker in sorted(image.brokers)]
    folder = ConfigKind.GROUP if kind == _GROUP else ConfigKind.CLIENT_METRICS
    return sorted(resource.name for resource in image.configs if resource.kind is folder)
