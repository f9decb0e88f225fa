"""ListConfigResources v0–v1 (KIP-1000, KIP-1142): what has, or may have, settings of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.config_numbers import ResourceType
from barnabas.model.errors import ErrorCode
from barnabas.model.image import ClusterImage, ConfigKind
from barnabas.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: ListConfigResourcesRequest) -> ListConfigResourcesResponse:
    kinds = list(dict.fromkeys(request.resource_types))
    if context.version == 0:
        kinds = [ResourceType.CLIENT_METRICS]  # all that version 0 knew
    elif not kinds:
        kinds = list(ResourceType)
    if not set(kinds) <= set(ResourceType):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    return ListConfigResourcesResponse(
        config_resources=[ConfigResource(name, kind) for kind in kinds for name in _names(node.image, kind)]
    )


def _names(image: ClusterImage, kind: int) -> list[str]:
    if kind == ResourceType.TOPIC:
        return list(image.sorted_topic_names)
    if kind in {ResourceType.BROKER, ResourceType.BROKER_LOGGER}:
        return [str(broker) for broker in sorted(image.brokers)]
    folder = ConfigKind.GROUP if kind == ResourceType.GROUP else ConfigKind.CLIENT_METRICS
    return sorted(resource.name for resource in image.configs if resource.kind is folder)
