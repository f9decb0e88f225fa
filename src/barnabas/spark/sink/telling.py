"""What keeps us from the brokers, in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.spark.errors import PipelineError
from barnabas.spark.planning_errors import sentence_of
from barnabas.wire import WireError

T = TypeVar("T")

_UNAUTHORIZED = frozenset(
    {
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)


def telling(work: Callable[[], T]) -> T:
    try:
        return work()
    except ApiError as error:
        if error.code in _UNAUTHORIZED:
            raise PipelineError(
                f"The brokers refuse ({error}): writing needs Write and Read on the topics and Write on the "
                "transactional id, with Read on its ledger, the group <transactional id>-sink."
            ) from error
        raise PipelineError(sentence_of(error)) from error
    except WireError as error:
        raise PipelineError(sentence_of(error)) from error
