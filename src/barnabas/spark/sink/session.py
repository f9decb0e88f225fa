"""What a Spark session can tell about itself and its queries: one in this process, or one behind Connect."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

from py4j.protocol import Py4JError

from barnabas.spark.errors import PipelineError
from barnabas.spark.sink.settings import Sink
from barnabas.spark.sink.targets import check_topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_QUERY_ID = "sql.streaming.queryId"
_ADAPTIVE = "spark.sql.adaptive.enabled"
_STATUS_WAIT_S = 30
_TEMPORARY = re.compile(r"/temporary-[0-9a-f-]{36}/?$")


class Session(Protocol):
    knows_queries: bool

    def query_id(self, checkpoint: str | None) -> str: ...
    def is_checkpoint_temporary(self, query_id: str) -> bool: ...
    def core_count(self) -> int: ...
    def is_speculation_on(self) -> bool: ...
    def ran_once(self, stages: Iterable[int]) -> bool:
        """Whether each stage's tasks all finished in its first attempt. A task cannot see its stage's
        attempt."""
        ...

    def plain_plans(self) -> AbstractContextManager[None]:
        """For the plans of a sink, which say themselves how rows are spread: Spark does not look for a better
        way at their run time, which would take longer than the rest of a small batch's planning."""
        ...

    def check_here(self, sink: Sink) -> None:
        """What can be seen from here before anything starts."""
        ...


def session_of(df: DataFrame) -> Session:
    spark: Any = df.sparkSession
    return ConnectSession(spark) if "connect" in type(spark).__module__ else ClassicSession(spark)


class ClassicSession:
    knows_queries = True

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._context: Any = spark.sparkContext
        self._java: Any = spark._jsparkSession  # noqa: SLF001

    def query_id(self, checkpoint: str | None) -> str:
        found = self._context.getLocalProperty(_QUERY_ID)
        if found is not None:
            return str(found)
        if checkpoint is None:
            raise PipelineError(
                "The query's id cannot be seen from here: unset PYSPARK_PIN_THREAD, or give write_stream "
                "itself the option checkpointLocation."
            )
        return _id_in(self._spark, checkpoint)

    def is_checkpoint_temporary(self, query_id: str) -> bool:
        """Spark makes a directory of its own for a query that names none, and forgets it at the end."""
        try:
            active = self._java.sharedState().activeStreamingQueries()
            query = active.get(self._context._jvm.java.util.UUID.fromString(query_id))  # noqa: SLF001
            return query is not None and bool(_TEMPORARY.search(str(query.resolvedCheckpointRoot())))
        except Py4JError:
            return False  # a look behind the scenes, for a warning only

    def core_count(self) -> int:
        return max(int(self._context.defaultParallelism), 1)

    def is_speculation_on(self) -> bool:
        return str(self._context.getConf().get("spark.speculation", "false")).lower() == "true"

    def ran_once(self, stages: Iterable[int]) -> bool:
        return all(self._stage_ran_once(stage) for stage in stages)

    def _stage_ran_once(self, stage: int) -> bool:
        """A stage that lost a part of its input runs again, in a second attempt, beside tasks of its
        first."""
        deadline = time.monotonic() + _STATUS_WAIT_S
        tracker = self._context.statusTracker()
        while time.monotonic() < deadline:
            info = tracker.getStageInfo(stage)
            if info is not None and info.currentAttemptId > 0:
                return False
            if info is not None and info.numCompletedTasks == info.numTasks:
                return True
            time.sleep(0.002)  # the tracker hears of a task's end a moment after the job does
        return False

    @contextmanager
    def plain_plans(self) -> Iterator[None]:
        conf = self._java.conf()
        before = conf.get(_ADAPTIVE)
        conf.set(_ADAPTIVE, "false")
        try:
            yield
        finally:
            conf.set(_ADAPTIVE, before)

    def check_here(self, sink: Sink) -> None:
        check_topic(sink)


class ConnectSession:
    """The driver is elsewhere, and tells us neither its queries nor its stages."""

    knows_queries = False

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def query_id(self, checkpoint: str | None) -> str:
        assert checkpoint is not None, "checked where the query was made"
        return _id_in(self._spark, checkpoint)

    def is_checkpoint_temporary(self, query_id: str) -> bool:  # noqa: ARG002
        return False

    def core_count(self) -> int:
        text = self._spark.conf.get("spark.default.parallelism", None)
        return int(text or self._spark.conf.get("spark.sql.shuffle.partitions") or 1)

    def is_speculation_on(self) -> bool:
        return str(self._spark.conf.get("spark.speculation", "false")).lower() == "true"

    def ran_once(self, stages: Iterable[int]) -> bool:  # noqa: ARG002
        return True

    def plain_plans(self) -> AbstractContextManager[None]:
        return nullcontext()  # each setting is a question to the server

    def check_here(self, sink: Sink) -> None:
        """The brokers may be reachable from the server only."""


def _id_in(spark: SparkSession, checkpoint: str) -> str:
    """Spark writes it there before the first batch."""
    lines = spark.read.text(f"{checkpoint.rstrip('/')}/metadata").collect()
    try:
        return str(json.loads("".join(line.value for line in lines))["id"])
    except (ValueError, KeyError) as error:
        raise PipelineError(
            f"{checkpoint}/metadata names no query: is this a checkpoint of Spark?"
        ) from error
