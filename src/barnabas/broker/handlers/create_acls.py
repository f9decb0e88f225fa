"""CreateAcls v1–v3 (KIP-140) at a broker without authorizer: a rule that nobody follows is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(_node: Node, _context: Context, request: CreateAclsRequest) -> CreateAclsResponse:
    refusal = AclCreationResult(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")
    return CreateAclsResponse(results=[refusal] * len(request.creations))
