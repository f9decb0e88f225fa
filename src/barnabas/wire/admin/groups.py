"""Groups, as far as administration asks for their names."""

from __future__ import annotations

from barnabas.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from barnabas.wire.cluster import Cluster
from barnabas.wire.codes import check


def list_groups(cluster: Cluster) -> list[ListedGroup]:
    """Every group of every type: each broker knows those it coordinates."""
    found: list[ListedGroup] = []
    for broker in cluster.brokers():
        answer = cluster.call(ListGroupsRequest(), ListGroupsResponse, broker.node_id)
        check(answer.error_code)
        found.extend(answer.groups)
    return found
