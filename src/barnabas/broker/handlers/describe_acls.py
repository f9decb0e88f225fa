"""DescribeAcls v1–v3 (KIP-140) of a broker without authorizer: there are no rules to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(_node: Node, _context: Context, _request: DescribeAclsRequest) -> DescribeAclsResponse:
    return DescribeAclsResponse(0, ErrorCode.SECURITY_DISABLED, "No Authorizer is configured on the broker")
