"""What can be wrong with records, in three layers.

RecordsError (an ApiError: the peer's fault, answered with its code)
├── CorruptRecordsError        CORRUPT_MESSAGE: sizes, magic or checksum of the batch; a retry may help
│   └── MalformedRecordsError  INVALID_RECORD: the checksum is right, so the sender wrote the nonsense inside
├── TooLargeError              MESSAGE_TOO_LARGE: decompresses to more than the limit
└── RejectedRecordsError       INVALID_RECORD, INVALID_TIMESTAMP…: well-formed, but against the topic's rules
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from barnabas.model.errors import ApiError, ErrorCode


class RecordError(NamedTuple):
    """One row of `record_errors` in Produce v8 and later; `batch_index` counts records inside the batch."""

    batch_index: int
    message: str


class RecordsError(ApiError):
    """Something is wrong with the records a peer sent or a file holds."""


class CorruptRecordsError(RecordsError):
    def __init__(self, message: str, code: ErrorCode = ErrorCode.CORRUPT_MESSAGE) -> None:
        super().__init__(code, message)


class MalformedRecordsError(CorruptRecordsError):
    def __init__(self, message: str) -> None:
        super().__init__(message, ErrorCode.INVALID_RECORD)


class TooLargeError(RecordsError):
    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.MESSAGE_TOO_LARGE, message)


class RejectedRecordsError(RecordsError):
    def __init__(self, code: ErrorCode, message: str, record_errors: Sequence[RecordError] = ()) -> None:
        super().__init__(code, message)
        self.record_errors = tuple(record_errors)
