"""Settings of topics, brokers, loggers, groups and client metrics: read and change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from barnabas.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from barnabas.wire.cluster import ANY, Cluster
from barnabas.wire.codes import check
from barnabas.wire.routing import from_controller


class ResourceType(IntEnum):
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class Source(IntEnum):
    """Where a value comes from, most specific first; the names are what Kafka's tools print."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    DYNAMIC_CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8

    @classmethod
    def name_of(cls, code: int) -> str:
        return cls(code).name if code in cls._value2member_map_ else cls.UNKNOWN.name


class Operation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Resource(NamedTuple):
    type: ResourceType
    name: str  # "" stands for the default of all brokers


class Change(NamedTuple):
    name: str
    value: str | None
    operation: Operation = Operation.SET


def describe(
    cluster: Cluster,
    resource: Resource,
    names: Sequence[str] | None = None,
    include_synonyms: bool = False,
    include_documentation: bool = False,
) -> Sequence[DescribeConfigsResourceResult]:
    return describe_many(cluster, [resource], names, include_synonyms, include_documentation)[resource]


def describe_many(
    cluster: Cluster,
    resources: Sequence[Resource],
    names: Sequence[str] | None = None,
    include_synonyms: bool = False,
    include_documentation: bool = False,
) -> Mapping[Resource, Sequence[DescribeConfigsResourceResult]]:
    """The resources must be answerable by one node: a broker only knows its own settings and loggers."""
    asked = [DescribeConfigsResource(resource.type, resource.name, names) for resource in resources]
    request = DescribeConfigsRequest(asked, include_synonyms, include_documentation)
    answer = cluster.call(request, DescribeConfigsResponse, _node(resources[0]))
    found = {}
    for result in answer.results:
        check(result.error_code, result.error_message)
        found[Resource(ResourceType(result.resource_type), result.resource_name)] = result.configs
    return found


def alter(
    cluster: Cluster, resource: Resource, changes: Sequence[Change], validate_only: bool = False
) -> None:
    """All of the changes of one resource, or none."""
    asked = AlterConfigsResource(
        resource.type,
        resource.name,
        [AlterableConfig(change.name, change.operation, change.value) for change in changes],
    )
    request = IncrementalAlterConfigsRequest([asked], validate_only)

    answer = from_controller(
        cluster,
        request,
        IncrementalAlterConfigsResponse,
        lambda got: [row.error_code for row in got.responses],
        _node(resource),
    )
    for result in answer.responses:
        check(result.error_code, result.error_message)


def resources(cluster: Cluster, types: Sequence[ResourceType]) -> Sequence[ConfigResource]:
    """Every resource of these types that has settings of its own."""
    answer = cluster.call(
        ListConfigResourcesRequest([int(kind) for kind in types]), ListConfigResourcesResponse
    )
    check(answer.error_code)
    return answer.config_resources


def _node(resource: Resource) -> int:
    """A named broker answers for itself; everything else is everyone's knowledge."""
    if resource.type in {ResourceType.BROKER, ResourceType.BROKER_LOGGER} and resource.name:
        return int(resource.name)
    return ANY
