"""ApiVersions v0–v4 (KIP-35, KIP-511, KIP-584).

Advertises what we serve. A version we do not know is answered in v0 with UNSUPPORTED_VERSION and the one row
a client needs to ask again. Finalised features appear once they work.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from barnabas.broker.dispatch import Context
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from barnabas.protocol.served import API_VERSIONS, SERVED

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_ROWS = [ApiVersion(row.key, row.advertised_oldest, row.newest) for row in SERVED.values()]


def handle(node: Node, context: Context, request: ApiVersionsRequest) -> ApiVersionsResponse:
    if context.version >= 3:
        if not (_is_software(request.client_software_name) and _is_software(request.client_software_version)):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        context.session.software_name = request.client_software_name
        context.session.software_version = request.client_software_version
    features = node.image.features
    return ApiVersionsResponse(
        api_keys=_ROWS,
        supported_features=[SupportedFeatureKey(name, 0, level) for name, level in sorted(features.items())],
        finalized_features_epoch=node.image.features_epoch,
        finalized_features=[FinalizedFeatureKey(name, level, level) for name, level in features.items()],
    )


def unsupported() -> ApiVersionsResponse:
    row = SERVED[API_VERSIONS]
    return ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=[ApiVersion(row.key, row.advertised_oldest, row.newest)],
    )


def _is_software(text: str) -> bool:
    return _SOFTWARE.fullmatch(text) is not None
