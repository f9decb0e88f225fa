"""DescribeClientQuotas v0–v1 (KIP-546): nobody has a quota here yet; a filter that makes no sense is refused.

AlterClientQuotas is not served: a quota that nobody keeps is worse than none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_IP = "ip"
_KINDS = {"user", "client-id", _IP}
_EXACT = 0
_MATCH_TYPES = {_EXACT: "MATCH_TYPE_EXACT", 1: "MATCH_TYPE_DEFAULT", 2: "MATCH_TYPE_SPECIFIED"}
_IP_WITH_OTHERS = (
    "Invalid entity filter component combination. IP filter component should not be used with user or "
    "clientId filter component."
)


def handle(
    _node: Node, _context: Context, request: DescribeClientQuotasRequest
) -> DescribeClientQuotasResponse:
    seen: set[str] = set()
    for component in request.components:
        refusal = _refusal(component, seen)
        if refusal is not None:
            return DescribeClientQuotasResponse(0, *refusal, None)
        seen.add(component.entity_type)
    if _IP in seen and len(seen) > 1:
        return DescribeClientQuotasResponse(0, ErrorCode.INVALID_REQUEST, _IP_WITH_OTHERS, None)
    return DescribeClientQuotasResponse()


def _refusal(component: ComponentData, seen: set[str]) -> tuple[ErrorCode, str] | None:
    kind = component.entity_type
    if not kind:
        return ErrorCode.INVALID_REQUEST, "Invalid empty entity type."
    if kind in seen:
        return ErrorCode.INVALID_REQUEST, f"Entity type {kind} cannot appear more than once in the filter."
    if kind not in _KINDS:
        return ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}"
    name = _MATCH_TYPES.get(component.match_type)
    if name is None:
        return ErrorCode.INVALID_REQUEST, f"Unknown match type {component.match_type}"
    if component.match_type == _EXACT and component.match is None:
        return ErrorCode.INVALID_REQUEST, f"Request specified {name}, but set match string to null."
    if component.match_type != _EXACT and component.match is not None:
        return ErrorCode.INVALID_REQUEST, f"Request specified {name}, but also specified a match string."
    return None
