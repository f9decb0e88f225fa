"""When to try again: bounded by a deadline, slower each time, only for what a retry may cure."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from barnabas.model.errors import ApiError
from barnabas.wire.errors import DeadlineError, NetworkError
from barnabas.wire.settings import Settings

T = TypeVar("T")


def may_retry(error: Exception) -> bool:
    """Connections come back and leaders move; a refusal stays a refusal."""
    return isinstance(error, NetworkError) or (isinstance(error, ApiError) and error.code.retriable)


def backoff_ms(attempt: int, settings: Settings) -> int:
    """Doubles from `retry.backoff.ms` to `retry.backoff.max.ms`; the first attempt is number 0."""
    return min(settings.retry_backoff_ms << min(attempt, 16), settings.retry_backoff_max_ms)


def retrying(work: Callable[[], T], settings: Settings, failed: Callable[[Exception], None]) -> T:
    """Call `work` until it succeeds, fails for good, or `default.api.timeout.ms` has passed. `failed` hears
    of every attempt that will be repeated."""
    deadline = time.monotonic() + settings.default_api_timeout_ms / 1000
    attempt = 0
    while True:
        try:
            return work()
        except (NetworkError, ApiError) as error:
            if not may_retry(error):
                raise
            wait_s = backoff_ms(attempt, settings) / 1000
            if time.monotonic() + wait_s >= deadline:
                if isinstance(error, ApiError):
                    raise
                raise DeadlineError(str(error), error) from error
            failed(error)
            time.sleep(wait_s)
            attempt += 1
