"""DeleteAcls v1–v3 (KIP-140) at a broker without authorizer: there are no rules to delete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.acl_requests import refuse_unknown
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(_node: Node, _context: Context, request: DeleteAclsRequest) -> DeleteAclsResponse:
    for row in request.filters:
        kinds = (row.resource_type_filter, row.pattern_type_filter, row.operation, row.permission_type)
        refuse_unknown("DeleteAcls", *kinds)
    refusal = DeleteAclsFilterResult(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")
    return DeleteAclsResponse(filter_results=[refusal] * len(request.filters))
