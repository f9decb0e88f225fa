"""CreateAcls v1–v3 (KIP-140) at a broker without authorizer: a rule that nobody follows is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.acl_requests import refuse_unknown
from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(_node: Node, _context: Context, request: CreateAclsRequest) -> CreateAclsResponse:
    for row in request.creations:
        kinds = (row.resource_type, row.resource_pattern_type, row.operation, row.permission_type)
        refuse_unknown("CreateAcls", *kinds)
    refusal = AclCreationResult(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")
    return CreateAclsResponse(results=[refusal] * len(request.creations))
