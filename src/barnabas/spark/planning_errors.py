"""How a user hears of what is wrong: one sentence on stderr, and the same at the head of Spark's error.

Every hook that PySpark calls to plan a query is wrapped in `plainly`. What is the user's to mend becomes a
`PipelineError`; everything else is our own fault and keeps its traceback.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from barnabas.model.errors import ApiError
from barnabas.spark.errors import PipelineError
from barnabas.wire import DeadlineError, NetworkError, SettingsError, WireError

P = ParamSpec("P")
T = TypeVar("T")


def plainly(hook: Callable[P, T]) -> Callable[P, T]:
    """Decorates a hook of the planning side."""

    @wraps(hook)
    def said(*arguments: P.args, **named: P.kwargs) -> T:
        try:
            return hook(*arguments, **named)
        except (PipelineError, WireError, ApiError) as error:
            sentence = sentence_of(error)
        warn(sentence)
        raise PipelineError(sentence)  # outside of the handler: none of our own frames explains it better

    return said


def warn(sentence: str) -> None:
    """One line for the user. A worker's stderr is the driver's."""
    print(f"barnabas: {sentence}", file=sys.stderr, flush=True)


def sentence_of(error: PipelineError | WireError | ApiError) -> str:
    if isinstance(error, DeadlineError | NetworkError):
        return (
            f"No broker answers: {str(error).rstrip('.')}. "
            "Check that 'kafka.bootstrap.servers' names brokers that run and can be reached from here."
        )
    if isinstance(error, SettingsError):
        return f"A 'kafka.' option is wrong: {str(error).rstrip('.')}."
    if isinstance(error, ApiError):
        return f"The broker refuses: {error.code.name}: {error}"
    return str(error)
