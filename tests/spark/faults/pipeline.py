"""A user's pipeline as a process of its own, so that it can be killed: one topic to another, exactly once.

Its one argument is JSON, the fields of `Plan`. Where a fault is asked for, the first writing task meets it
after some rows, and leaves its process id in the file `reached`.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import barnabas.spark
from barnabas.spark.sink import batch, commit, encoded, task

HOLD, RAISE, HOLD_AND_RAISE, HOLD_AFTER_END = "hold", "raise", "hold-and-raise", "hold-after-end"
REACHED, RAISED, REPEATED, REPORT = "reached", "raised", "repeated", "report.json"
GO, STOP = "go", "stop"
_QUIET = Path(barnabas.spark.__file__).with_name("quiet.properties").as_uri()
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_TOO_SLOW = (
    "failed to connect back"  # Spark gives a Python process ten seconds to start, and has no setting for it
)
_PATIENCE_MS = "300000"  # with a broker that restarts: a busy machine may take its time
Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class Plan:
    bootstrap: str
    source: str
    target: str
    checkpoint: str
    folder: str  # of the files that both sides look for
    fault: str | None = None
    after_rows: int = 300
    at_batch: int = 0  # of HOLD_AFTER_END
    order_by: str | None = None
    bare: bool = False  # .writeStream.format("barnabas") instead of write_stream
    endless: bool = False  # until the file `stop` appears; else all that is there
    max_offsets: int = 2_000
    config: dict[str, str] = field(default_factory=dict)


def is_first(folder: str, name: str) -> bool:
    """Whether this process is the first to come here."""
    try:
        with open(f"{folder}/{name}.part-{os.getpid()}", "w") as part:
            part.write(str(os.getpid()))
        os.link(part.name, f"{folder}/{name}")
    except FileExistsError:
        return False
    finally:
        os.unlink(part.name)
    return True


def wait_for(path: str) -> None:
    while not os.path.exists(path):
        time.sleep(0.01)


def faulty(plan: Plan) -> Callable[[Batches], Batches]:
    def through(batches: Batches) -> Batches:
        row_count = 0
        for rows in batches:
            yield rows
            row_count += count_of(rows)
            if row_count >= plan.after_rows:
                break
        left = list(batches)  # all in hand: who goes on later may have no JVM any more to ask for it
        if row_count >= plan.after_rows:
            meet_fault(plan)
        yield from left

    return through


def meet_fault(plan: Plan) -> None:
    is_reached = is_first(plan.folder, REACHED)
    if is_reached and plan.fault != RAISE:
        wait_for(f"{plan.folder}/{GO}")
    elif is_reached or (plan.fault == HOLD_AND_RAISE and is_first(plan.folder, RAISED)):
        raise OSError("fails on demand")


def count_of(rows: pa.RecordBatch) -> int:
    """Behind the shuffle there are record batches, unless `order_by` wants rows."""
    return sum(rows["row_count"].to_pylist()) if "row_count" in rows.schema.names else rows.num_rows


def with_fault_in_the_write(plan: Plan) -> None:
    """Tasks get a writer whose rows come through `faulty`; what a held one reports is kept."""
    mock.patch.object(task, "shuffled_writer", disturbed_writer(plan, task.shuffled_writer)).start()
    mock.patch.object(encoded, "batch_writer", disturbed_writer(plan, encoded.batch_writer)).start()


def disturbed_writer(
    plan: Plan, plain: Callable[..., Callable[[Batches], Batches]]
) -> Callable[..., Callable[[Batches], Batches]]:
    def writer(*arguments: Any) -> Callable[[Batches], Batches]:
        write, disturbed = plain(*arguments), faulty(plan)

        def written(batches: Batches) -> Batches:
            context = TaskContext.get()
            if context is not None and context.attemptNumber() > 0:
                Path(plan.folder, REPEATED).touch()
            for report in write(disturbed(batches)):
                keep_report(plan.folder, report)
                yield report

        return written

    return writer


def keep_report(folder: str, report: pa.RecordBatch) -> None:
    reached = Path(folder, REACHED)
    if reached.exists() and reached.read_text() == str(os.getpid()):
        part = Path(folder, f"{REPORT}.part")
        part.write_text(report.column(0)[0].as_py())
        part.rename(Path(folder, REPORT))


def with_hold_after_end(plan: Plan) -> None:
    """The transaction has ended; Spark will not hear of it."""
    plain, seen = commit.end, itertools.count()

    def end(*arguments: Any) -> None:
        plain(*arguments)
        if next(seen) == plan.at_batch and is_first(plan.folder, REACHED):
            wait_for(f"{plan.folder}/{GO}")

    mock.patch.object(batch, "end", end).start()


def session(plan: Plan) -> SparkSession:
    return barnabas.spark.local_session(
        "faults",
        **{
            "spark.master": "local[2,2]",
            "spark.driver.memory": "512m",
            "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_QUIET} {_SHORT_LIVED}",
            "spark.local.dir": f"{plan.folder}/spark",
            "spark.sql.warehouse.dir": f"{plan.folder}/warehouse",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
            **plan.config,
        },
    )


def query_of(spark: SparkSession, plan: Plan) -> Any:
    servers = {"kafka.bootstrap.servers": plan.bootstrap, "kafka.default.api.timeout.ms": _PATIENCE_MS}
    options = {**servers, "kafka.batch.size": "1024"}
    rows = (
        spark.readStream.format("barnabas")
        .options(**servers)
        .option("subscribe", plan.source)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", str(plan.max_offsets))
        .load()
    )
    if plan.bare:
        writer = bare(rows, plan, options)
    else:
        chosen = rows.select("key", "value", "offset")
        writer = barnabas.spark.write_stream(chosen, plan.target, plan.order_by, **options)
    writer = writer.option("checkpointLocation", plan.checkpoint)
    return writer if plan.endless else writer.trigger(availableNow=True)


def bare(rows: DataFrame, plan: Plan, options: dict[str, str]) -> Any:
    """Each source partition is one task's, so each target partition is."""
    placed = rows.select("key", "value", "partition")
    if plan.fault in (HOLD, RAISE):
        placed = placed.mapInArrow(faulty(plan), placed.schema)
    return placed.writeStream.format("barnabas").options(topic=plan.target, **options)


def main(plan: Plan) -> None:
    if plan.fault == HOLD_AFTER_END:
        with_hold_after_end(plan)
    elif plan.fault is not None and not plan.bare:
        with_fault_in_the_write(plan)
    spark = session(plan)
    while True:
        query = query_of(spark, plan).start()
        try:
            while not query.awaitTermination(0.2):
                if os.path.exists(f"{plan.folder}/{STOP}"):
                    query.stop()
        except StreamingQueryException as error:
            if _TOO_SLOW not in str(error):
                raise
        else:
            return


if __name__ == "__main__":
    main(Plan(**json.loads(sys.argv[1])))
