"""Error codes of answers, as exceptions."""

from __future__ import annotations

from barnabas.model.errors import ApiError, ErrorCode

_BY_CODE = {int(row): row for row in ErrorCode}


def known(error_code: int) -> ErrorCode:
    """A code newer than our table is an unknown server error, as in Kafka's clients."""
    return _BY_CODE.get(error_code, ErrorCode.UNKNOWN_SERVER_ERROR)


def check(error_code: int, message: str | None = None) -> None:
    """Raise what is wrong, in the broker's words if it sent any."""
    if error_code:
        raise ApiError(known(error_code), message or None)
