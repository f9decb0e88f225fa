"""Every row of the table, in its order."""

from __future__ import annotations

from bench.cluster.rows import ROWS as CLUSTER_ROWS
from bench.coordinators.rows import ROWS as COORDINATOR_ROWS
from bench.rows import ROWS as LOG_ROWS
from bench.spark.rows import ROWS as SPARK_ROWS

ROWS = (*LOG_ROWS, *COORDINATOR_ROWS)
SETS = {
    "log": tuple(row.key for row in LOG_ROWS),
    "coordinators": tuple(row.key for row in COORDINATOR_ROWS),
    "cluster": tuple(row.key for row in CLUSTER_ROWS),
    "spark": tuple(row.key for row in SPARK_ROWS),
}
"""Names for several rows at once."""
