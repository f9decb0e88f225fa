"""DescribeAcls v1–v3 (KIP-140) of a broker without authorizer: there are no rules to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.acl_requests import refuse_unknown
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(_node: Node, _context: Context, request: DescribeAclsRequest) -> DescribeAclsResponse:
    kinds = (request.resource_type_filter, request.pattern_type_filter, request.operation)
    refuse_unknown("DescribeAcls", *kinds, request.permission_type)
    return DescribeAclsResponse(0, ErrorCode.SECURITY_DISABLED, "No Authorizer is configured on the broker")
