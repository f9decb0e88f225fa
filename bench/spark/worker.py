"""Runs inside Spark's environment: every row there and back, one line of JSON for each measurement.

`python -m bench.spark.worker '{"bootstrap": …, "rows": […], "rounds": 2, "share": 1.0, "jars": …}'`
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

import barnabas.spark
from bench.spark.loads import Measurement
from bench.spark.rows import CONNECTOR, OURS, ROWS, SparkRow

SAMPLE = "sample "
# A JVM compiles what it has seen often enough; these runs do not count.
WARM_UP = (CONNECTOR, OURS, OURS, CONNECTOR)


def main(order: Mapping[str, Any]) -> None:
    spark = barnabas.spark.local_session(
        "bench",
        **{
            "spark.master": "local[2]",
            "spark.jars": order["jars"],
            "spark.driver.memory": "2g",
            "spark.sql.streaming.numRecentProgressUpdates": 10_000,
        },
    )
    rows = [row for row in ROWS if row.key in order["rows"]]
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-spark-") as home:
        measurement = Measurement(spark, order["bootstrap"], order["share"], Path(home))
        for row in rows:
            measure(row, measurement, order["rounds"])
    spark.stop()


def measure(row: SparkRow, measurement: Measurement, rounds: int) -> None:
    for subject in WARM_UP:
        attempt(row, measurement, subject)
    for number in range(rounds):
        first, second = (CONNECTOR, OURS) if number % 2 == 0 else (OURS, CONNECTOR)
        for pair, subject in ((0, first), (0, second), (1, second), (1, first)):
            figures, problem = attempt(row, measurement, subject)
            sample = {
                "row": row.key,
                "subject": subject,
                "round": 2 * number + pair,
                "figures": figures,
                "problem": problem,
            }
            print(SAMPLE + json.dumps(sample), flush=True)


def attempt(row: SparkRow, measurement: Measurement, subject: str) -> tuple[dict[str, float], str | None]:
    try:
        return measurement.run(row, subject), None
    except (PySparkException, Py4JError, OSError, ValueError, RuntimeError) as problem:
        # Whatever a connector throws is the row's result, not the bench's end.
        return {}, str(problem).strip()[:300]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
