"""What the handlers of transactions share."""

from __future__ import annotations

from barnabas.model.errors import ErrorCode


def spoken(code: ErrorCode, version: int, fenced_since: int) -> ErrorCode:
    """As this client knows it: before KIP-588 nobody had heard of PRODUCER_FENCED."""
    is_new = code is ErrorCode.PRODUCER_FENCED and version < fenced_since
    return ErrorCode.INVALID_PRODUCER_EPOCH if is_new else code
