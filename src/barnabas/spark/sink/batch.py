"""One batch, exactly once: run the job in a transaction, and again in a new one if an attempt was lost."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from barnabas.model.errors import ApiError
from barnabas.spark.errors import PipelineError
from barnabas.spark.sink.commit import Begun, abort, begin, end, fenced_sentence
from barnabas.spark.sink.ledger import Entry, is_written
from barnabas.spark.sink.reports import FencedError, Report, check
from barnabas.spark.sink.settings import Sink
from barnabas.spark.sink.telling import telling
from barnabas.wire import Cluster, WireError
from barnabas.wire.transactions import Producer

logger = logging.getLogger("barnabas.spark")

Job = Callable[[Producer | None], Sequence[Report]]

# What a new attempt may cure: a lost executor, a failed task, a coordinator that did not answer. Other errors
# of Py4J say that the JVM is gone, and with it the query: its successor may have the id already.
_LOST = (PySparkException, Py4JJavaError, ApiError, WireError)
_CANCELLED = ("SPARK_JOB_CANCELLED", "cancelled part of cancelled job group", "InterruptedException")


class LostAttemptError(PySparkException):
    """Spark repeated a part of the job, which may have written twice."""


def write_exactly_once(sink: Sink, cluster: Cluster, transactional_id: str, entry: Entry, job: Job) -> None:
    """`entry` tells the batch from others in the ledger: after an end whose outcome is unknown, too."""
    last = _try(sink, cluster, transactional_id, entry, job)
    if last is None:
        return
    begun = telling(lambda: begin(sink, cluster, transactional_id))
    if is_written(entry, begun.ledger):
        return
    raise PipelineError(
        f"Batch {entry.batch_id} could not be written in {sink.attempts} attempts, and nothing of it was; "
        f"the last one: {_cause(last)}"
    ) from last


def _try(sink: Sink, cluster: Cluster, transactional_id: str, entry: Entry, job: Job) -> Exception | None:
    """The last attempt's failure, or None when the batch is written."""
    last: Exception | None = None
    for attempt in range(1, sink.attempts + 1):
        begun = telling(lambda: begin(sink, cluster, transactional_id))
        if is_written(entry, begun.ledger):
            return None
        try:
            _attempt(sink, cluster, begun, entry, job)
        except _LOST as error:
            if _is_cancelled(error):
                abort(sink, cluster, transactional_id)
                raise
            last = error
            logger.warning(
                "attempt %d of %d to write batch %s failed and is aborted: %s",
                attempt,
                sink.attempts,
                entry.batch_id,
                _cause(error),
            )
        else:
            return None
    return last


def _attempt(sink: Sink, cluster: Cluster, begun: Begun, entry: Entry, job: Job) -> None:
    transactional_id = begun.producer.transactional_id
    assert transactional_id is not None
    try:
        end(cluster, begun, check(job(begun.producer)), entry)
    except FencedError as error:
        # Not taken back: two queries would fence each other for ever.
        raise PipelineError(fenced_sentence(transactional_id, begun, time.time())) from error
    except PipelineError:
        abort(sink, cluster, transactional_id)
        raise


def write_at_least_once(job: Job) -> None:
    for report in telling(lambda: job(None)):
        if report.refusal is not None:
            raise PipelineError(report.refusal)


def _is_cancelled(error: Exception) -> bool:
    text = str(error)
    return any(sign in text for sign in _CANCELLED)


def _cause(error: Exception) -> str:
    """The line of a long stack trace that says what happened: Python's last, else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    python = [line for line in lines if line.split(":")[0].endswith(("Error", "Exception")) and ": " in line]
    chosen = python[-1] if python else (lines or [type(error).__name__])[0]
    return chosen[:500]
