"""What is checked before a write without shuffle begins, and under which id it runs."""

from __future__ import annotations

import hashlib
import uuid

from pyspark.sql.types import StructType

from barnabas.spark.errors import PipelineError
from barnabas.spark.options import Options
from barnabas.spark.sink.columns import columns_of
from barnabas.spark.sink.settings import Sink, sink_of
from barnabas.spark.sink.stream import CHECKPOINT
from barnabas.spark.sink.targets import check_topic
from barnabas.spark.sink.unshuffled import StreamWriter
from barnabas.spark.sink.whole import BatchWriter


def plan_stream(options: Options, schema: StructType) -> StreamWriter:
    sink = _checked(options, schema)
    if not sink.exactly_once:
        return StreamWriter(sink, "")
    return StreamWriter(sink, sink.transactional_id or _id_of_checkpoint(options))


def plan_batch(options: Options, schema: StructType, overwrite: bool) -> BatchWriter:
    if overwrite:
        raise PipelineError(
            "Save mode Overwrite not allowed for Kafka. Allowed save mode is Append: use .mode('append')."
        )
    sink = _checked(options, schema)
    return BatchWriter(sink, sink.transactional_id or f"barnabas-spark-{uuid.uuid4()}")


def _checked(options: Options, schema: StructType) -> Sink:
    sink = sink_of(options)
    columns_of(schema, sink.topic)
    check_topic(sink)
    return sink


def _id_of_checkpoint(options: Options) -> str:
    """The query's own id is not known here; its checkpoint stands for it."""
    checkpoint = options.text(CHECKPOINT)
    if checkpoint is None:
        raise PipelineError(
            "This sink needs a name that stays the same after a restart: set the option "
            "checkpointLocation, or transactionalId."
        )
    return f"barnabas-spark-{hashlib.sha256(checkpoint.rstrip('/').encode()).hexdigest()[:32]}"
