"""CreateDelegationToken v1–v3 (KIP-48) over a connection that proved no identity: not allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(
    _node: Node, _context: Context, request: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse:
    owner = ("User", "ANONYMOUS")
    if request.owner_principal_name:
        owner = (request.owner_principal_type or "", request.owner_principal_name)
    refused = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    return CreateDelegationTokenResponse(refused, *owner, "User", "ANONYMOUS", -1, -1, -1)
